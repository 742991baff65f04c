import Glibc
import NorrisProtocol

/// A deferred request, from its body's decision until its reply is written.
final class DeferredRequest {
    let resource: Deferred.Resource
    let work: Deferred.Work
    /// The request's id, as a token of `line`; nil for a notification.
    let id: JSONToken?
    let line: ArraySlice<UInt8>
    let method: MethodRegistry.Method
    /// When the request began, in nanoseconds.
    let start = monotonicNanoseconds()

    fileprivate init(_ deferred: Deferred, id: JSONToken?, _ line: ArraySlice<UInt8>, _ method: MethodRegistry.Method) {
        (resource, work) = (deferred.resource, deferred.work)
        (self.id, self.line, self.method) = (id, line, method)
    }
}

/// A line whose answer takes more than one turn: a deferred request, or a batch with entries that are left.
final class UnfinishedLine {
    fileprivate let line: ArraySlice<UInt8>
    /// Of a batch; nil for a single request.
    fileprivate let entries: [Range<Int>]?
    /// The first entry that is left.
    fileprivate var next = 0
    /// The reply of a batch as far as it is made.
    fileprivate var json = JSONWriter()
    fileprivate var budget: Exchange.Budget
    /// The deferred request that holds up the line; nil where its turn was over.
    fileprivate(set) var waiting: DeferredRequest?

    fileprivate init(_ line: ArraySlice<UInt8>, entries: [Range<Int>]? = nil) {
        self.line = line
        self.entries = entries
        budget = Exchange.Budget(start: 0, maximum: Exchange.maximumResults(line: line.count))
        if entries != nil { json.beginArray() }
    }

    /// How many bytes of a reply it holds.
    var heldBytes: Int { json.count }

    /// Nobody wants the reply any more.
    func drop() { json = JSONWriter() }
}

/// Turns one line into one reply line, a single request or a batch (JSON-RPC 2.0, sections 4 to 6).
struct Exchange {
    /// How many requests a batch may hold.
    static let maximumBatch = 64
    /// How long a reply line may become: what a connection may hold.
    static let maximumReply = 4 * 1024 * 1024

    let registry: MethodRegistry
    private let repeated = RepeatedLine()

    init(registry: MethodRegistry) { self.registry = registry }

    /// Answers a line into the writer, as far as the turn goes and no request is deferred.
    ///
    /// - Returns: the rest of the line, or nil where everything is written.
    func answer(
        _ line: ArraySlice<UInt8>, of caller: Caller, _ turn: inout Turn, into json: inout JSONWriter
    ) -> UnfinishedLine? {
        line.withUnsafeBytes { bytes in
            if let (request, id) = repeated.match(bytes) {
                return single(line, &turn, into: &json) { budget, turn, json in
                    perform(
                        request.method, id: id, line, bytes, caller, &budget, &turn, into: &json,
                        { () throws(ResponseError) in request.arguments }
                    )
                }
            }
            do throws(JSONError) {
                switch try RequestLine(bytes) {
                case .single(let envelope):
                    return single(line, &turn, into: &json) { budget, turn, json in
                        perform(envelope, line, bytes, caller, &budget, &turn, into: &json)
                    }
                case .batch(let entries): return batch(entries, line, caller, &turn, into: &json)
                }
            } catch {
                refuse(.parseError(error), into: &json)
                turn.spend(read: line.count, written: json.count)
                return nil
            }
        }
    }

    /// Takes the result of a line's deferred request; a batch goes on with ``proceed(_:of:_:into:)``.
    ///
    /// - Returns: the line where it is not done.
    func finish(
        _ line: UnfinishedLine, _ result: Result<[UInt8], ResponseError>, into json: inout JSONWriter
    ) -> UnfinishedLine? {
        guard let waiting = line.waiting else { preconditionFailure("Without a deferred request there is no result") }
        line.waiting = nil
        waiting.method.meter.end(waiting.start)
        guard line.entries != nil else {
            var budget = Budget(start: json.count, maximum: Exchange.maximumReply - 1)
            finish(waiting, result, &budget, into: &json)
            if json.count > budget.start { json.newline() }
            return nil
        }
        finish(waiting, result, &line.budget, into: &line.json)
        return line
    }

    /// How long the reply to a batch of so many bytes may become by results. The rest is for the errors of all entries,
    /// with what they repeat of the line, of which a byte may take six.
    static func maximumResults(line: Int) -> Int { maximumReply - maximumBatch * 1024 - line * 6 }

    /// Answers a line that was too long to be kept.
    func refuseLongLine(into json: inout JSONWriter) {
        refuse(.lineTooLong(maximum: LineSplitter.maximumRequest), into: &json)
    }

    private func refuse(_ error: ResponseError, into json: inout JSONWriter) {
        fail(.null, error, into: &json)
        json.newline()
    }

    /// Counts an error, and writes it where there is to be a reply.
    private func fail(_ id: RequestID?, _ error: ResponseError, into json: inout JSONWriter) {
        registry.counters.count(error)
        if let id { Response.write(id: id, error: error, to: &json) }
    }

    @inline(__always) private func single(
        _ line: ArraySlice<UInt8>, _ turn: inout Turn, into json: inout JSONWriter,
        _ perform: (inout Budget, inout Turn, inout JSONWriter) -> DeferredRequest?
    ) -> UnfinishedLine? {
        var budget = Budget(start: json.count, maximum: Exchange.maximumReply - 1)
        let waiting = perform(&budget, &turn, &json)
        if json.count > budget.start { json.newline() }
        turn.spend(read: line.count, written: json.count)
        guard let waiting else { return nil }
        let unfinished = UnfinishedLine(line)
        unfinished.waiting = waiting
        return unfinished
    }

    private func batch(
        _ entries: [Range<Int>], _ line: ArraySlice<UInt8>, _ caller: Caller, _ turn: inout Turn,
        into json: inout JSONWriter
    ) -> UnfinishedLine? {
        if (1...Exchange.maximumBatch).contains(entries.count) {
            return proceed(UnfinishedLine(line, entries: entries), of: caller, &turn, into: &json)
        }
        refuse(
            entries.isEmpty
                ? .invalidRequest("A batch holds at least one request.")
                : .invalidRequest(
                    "The batch holds \(entries.count) requests, more than \(Exchange.maximumBatch).",
                    hint: "Send several batches."), into: &json)
        turn.spend(read: line.count, written: json.count)
        return nil
    }

    /// Answers entries of a batch until one is deferred or the turn is over.
    ///
    /// - Returns: the line where it is not done.
    func proceed(
        _ batch: UnfinishedLine, of caller: Caller, _ turn: inout Turn, into json: inout JSONWriter
    ) -> UnfinishedLine? {
        guard let entries = batch.entries else { return batch }
        turn.moved(written: batch.json.count)
        while batch.next < entries.count, !turn.isOver, batch.waiting == nil {
            let range = entries[batch.next]
            let start = batch.line.startIndex
            let entry = batch.line[start + range.lowerBound..<start + range.upperBound]
            batch.next += 1
            entry.withUnsafeBytes { bytes in
                // The whole line has been read, so an entry of it cannot fail.
                guard let envelope = try? RequestEnvelope(entry: bytes) else { return }
                batch.waiting = perform(envelope, entry, bytes, caller, &batch.budget, &turn, into: &batch.json)
            }
            turn.spend(read: range.count, written: batch.json.count)
        }
        if batch.next < entries.count || batch.waiting != nil { return batch }
        // A batch of notifications only: no line at all.
        guard batch.json.count > 1 else { return nil }
        batch.json.endArray()
        batch.json.newline()
        batch.json.withBytes { json.raw(lines: $0) }
        return nil
    }

    /// How much of a writer a reply line may take.
    struct Budget {
        /// Where the line begins.
        let start: Int
        let maximum: Int
        /// Once a result did not fit, no later request of the line is performed.
        var isExceeded = false
    }

    private static let tooMuch = ResponseError.busy(
        "The reply would be longer than \(maximumReply) bytes.", hint: "Ask for less at a time.")

    /// Runs a request and writes its reply, if it is to have one and is not deferred.
    private func perform(
        _ envelope: RequestEnvelope, _ line: ArraySlice<UInt8>, _ bytes: UnsafeRawBufferPointer, _ caller: Caller,
        _ budget: inout Budget, _ turn: inout Turn, into json: inout JSONWriter
    ) -> DeferredRequest? {
        guard envelope.isRequest, let name = envelope.method else {
            if let fault = envelope.fault(in: bytes) { fail(fault.id, fault.error, into: &json) }
            return nil
        }
        let id = envelope.id
        guard let method = registry.method(named: name, in: bytes) else {
            if id != nil, budget.isExceeded {
                fail(id, bytes, Exchange.tooMuch, into: &json)
            } else {
                fail(id, bytes, .unknownMethod(name.text(in: bytes)), into: &json)
            }
            return nil
        }
        repeated.note(bytes, envelope, method)
        return perform(method, id: id, line, bytes, caller, &budget, &turn, into: &json) { () throws(ResponseError) in
            try method.description.arguments(in: line, params: envelope.params)
        }
    }

    /// - Parameter arguments: reads and checks them.
    @inline(__always) private func perform(
        _ method: MethodRegistry.Method, id: JSONToken?, _ line: ArraySlice<UInt8>, _ bytes: UnsafeRawBufferPointer,
        _ caller: Caller, _ budget: inout Budget, _ turn: inout Turn, into json: inout JSONWriter,
        _ arguments: () throws(ResponseError) -> Arguments
    ) -> DeferredRequest? {
        if id != nil, budget.isExceeded {
            fail(id, bytes, Exchange.tooMuch, into: &json)
            return nil
        }
        method.meter.begin()
        let mark = json.mark()
        do throws(ResponseError) {
            json.literal(#"{"jsonrpc":"2.0","id":"#)
            if let id { json.id(id, in: bytes) }
            json.join(#","result":"#)
            if let deferred = try registry.perform(method, caller, into: &json, arguments) {
                json.rewind(to: mark)
                return DeferredRequest(deferred, id: id, line, method)
            }
            json.join("}", endsValue: true)
            if id == nil {
                json.rewind(to: mark)
            } else {
                limit(&budget, id, bytes, since: mark, in: &json)
            }
        } catch {
            json.rewind(to: mark)
            fail(id, bytes, error, into: &json)
        }
        turn.answered(method)
        return nil
    }

    private func finish(
        _ waiting: DeferredRequest, _ result: Result<[UInt8], ResponseError>, _ budget: inout Budget,
        into json: inout JSONWriter
    ) {
        waiting.line.withRawBytes { bytes in
            switch result {
            case .failure(let error): fail(waiting.id, bytes, error, into: &json)
            case .success(let result):
                guard let id = waiting.id else { return }
                let mark = json.mark()
                json.literal(#"{"jsonrpc":"2.0","id":"#)
                json.id(id, in: bytes)
                json.join(#","result":"#)
                json.raw(result)
                json.join("}", endsValue: true)
                limit(&budget, id, bytes, since: mark, in: &json)
            }
        }
    }

    /// Replaces a result that did not fit by an error. Errors themselves always fit.
    private func limit(
        _ budget: inout Budget, _ id: JSONToken?, _ bytes: UnsafeRawBufferPointer, since mark: JSONWriter.Mark,
        in json: inout JSONWriter
    ) {
        guard json.count - budget.start > budget.maximum else { return }
        budget.isExceeded = true
        json.rewind(to: mark)
        fail(id, bytes, Exchange.tooMuch, into: &json)
    }

    private func fail(
        _ id: JSONToken?, _ bytes: UnsafeRawBufferPointer, _ error: ResponseError, into json: inout JSONWriter
    ) { fail(id.map { RequestID($0, in: bytes) }, error, into: &json) }
}

/// The last request line with an integer id, for the lines that repeat it with another id: they need not be parsed.
///
/// A line of the same bytes but for the digits of the id is valid in the same way, for another integer of at most 15
/// digits is one too. Clients that send many requests send such lines, and parsing one takes as long as answering it.
final class RepeatedLine {
    /// A longer line is not remembered.
    private static let maximumLength = 512
    /// So many digits are below 2^53.
    private static let maximumDigits = 15

    /// The request of the line. A class, so that it is lent and not copied.
    final class Request {
        let method: MethodRegistry.Method
        let arguments: Arguments

        init(_ method: MethodRegistry.Method, _ arguments: Arguments) {
            self.method = method
            self.arguments = arguments
        }
    }

    private var bytes: [UInt8] = []
    /// Where the id is in ``bytes``.
    private var id = 0..<0
    private var request: Request?
    private var misses = 0

    /// The request of a line that repeats the last one, and the line's id.
    @inline(__always) func match(_ line: UnsafeRawBufferPointer) -> (request: Request, id: JSONToken)? {
        let end = line.count - (bytes.count - id.upperBound)
        guard let request, end > id.lowerBound, end - id.lowerBound <= RepeatedLine.maximumDigits,
            let base = line.baseAddress
        else { return nil }
        let isSame = bytes.withUnsafeBytes { bytes in
            // Lines with requests are not empty.
            memcmp(base, bytes.baseAddress!, id.lowerBound) == 0
                && memcmp(base + end, bytes.baseAddress! + id.upperBound, bytes.count - id.upperBound) == 0
        }
        guard isSame else { return nil }
        let range = id.lowerBound..<end
        for offset in range where line[offset] &- UInt8(ascii: "0") > 9 { return nil }
        guard line[range.lowerBound] != UInt8(ascii: "0") || range.count == 1 else { return nil }
        return (request, JSONToken(.integer, range))
    }

    /// Remembers a line that was not the last one's repetition, now and then: to do so costs a little.
    func note(_ line: UnsafeRawBufferPointer, _ envelope: RequestEnvelope, _ method: MethodRegistry.Method) {
        misses += 1
        guard misses.isMultiple(of: 8), line.count <= RepeatedLine.maximumLength, let id = envelope.id,
            id.kind == .integer, line[id.range.lowerBound] != UInt8(ascii: "-"),
            id.range.count <= RepeatedLine.maximumDigits
        else { return }
        // A copy, so that the arguments do not hold the connection's input.
        bytes = Array(line)
        guard let arguments = try? method.description.arguments(in: bytes[...], params: envelope.params) else {
            request = nil
            return
        }
        (self.id, request) = (id.range, Request(method, arguments))
    }
}
