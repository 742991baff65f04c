import Glibc
import NorrisProtocol
import NorrisSystem

/// A deferred request, until its reply is written.
final class DeferredRequest {
    let resource: Deferred.Resource
    let work: Deferred.Work
    /// The request's id, as a token of the line; nil for a notification.
    let id: JSONToken?
    let line: ArraySlice<UInt8>
    let method: MethodRegistry.Entry
    /// The start of the request, in nanoseconds.
    let start = monotonicNanoseconds()

    fileprivate init(_ deferred: Deferred, id: JSONToken?, _ line: ArraySlice<UInt8>, _ method: MethodRegistry.Entry) {
        (resource, work) = (deferred.resource, deferred.work)
        (self.id, self.line, self.method) = (id, line, method)
    }
}

/// A line that takes more than one step: a deferred request, or a batch with unanswered entries.
final class UnfinishedLine {
    fileprivate let line: ArraySlice<UInt8>
    /// The entries of a batch; nil for a single request.
    fileprivate let entries: [Range<Int>]?
    /// The first unanswered entry.
    fileprivate var next = 0
    /// The written part of a batch's reply.
    fileprivate var json = JSONWriter()
    fileprivate var budget: Exchange.Budget
    /// The deferred request that delays the line; nil if the turn was over.
    fileprivate(set) var waiting: DeferredRequest?

    init(_ line: ArraySlice<UInt8>, entries: [Range<Int>]? = nil) {
        self.line = line
        self.entries = entries
        budget = Exchange.Budget(start: 0, maximum: Exchange.maximumResults(line: line.count))
        if entries != nil { json.beginArray() }
    }

    /// The bytes of the unfinished reply.
    var heldBytes: Int { json.count }

    /// Discards the reply, because the client has disconnected.
    func drop() { json = JSONWriter() }
}

/// Answers one line with one reply line: a single request or a batch (JSON-RPC 2.0, sections 4 to 6).
struct Exchange {
    let registry: MethodRegistry
    private let repeated = RepeatedLine()

    init(registry: MethodRegistry) { self.registry = registry }

    /// Answers a line into the writer, until the turn is over or a request is deferred.
    ///
    /// - Returns: the unfinished line; nil if the reply is complete.
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
                turn.spend()
                return nil
            }
        }
    }

    /// Writes the result of a deferred request. A batch continues with ``proceed(_:of:_:into:)``.
    ///
    /// - Returns: the line if it is not finished.
    func finish(
        _ line: UnfinishedLine, _ result: Result<[UInt8], ResponseError>, into json: inout JSONWriter
    ) -> UnfinishedLine? {
        guard let waiting = line.waiting else { preconditionFailure("Without a deferred request there is no result") }
        line.waiting = nil
        waiting.method.meter.record(count: 1, nanoseconds: monotonicNanoseconds() - waiting.start)
        guard line.entries != nil else {
            var budget = Budget(start: json.count, maximum: Limit.reply - 1)
            finish(waiting, result, &budget, into: &json)
            if json.count > budget.start { json.newline() }
            return nil
        }
        finish(waiting, result, &line.budget, into: &line.json)
        return line
    }

    /// The maximum bytes of results in the reply to a batch. The remaining bytes are for the errors of all entries,
    /// which repeat parts of the line, of which a byte can take six bytes.
    static func maximumResults(line: Int) -> Int { Limit.reply - Limit.batch * 1024 - line * 6 }

    /// Answers a line that was too long to store.
    func refuseLongLine(into json: inout JSONWriter) {
        refuse(.lineTooLong(maximum: LineSplitter.maximumRequest), into: &json)
    }

    private func refuse(_ error: ResponseError, into json: inout JSONWriter) {
        fail(.null, error, into: &json)
        json.newline()
    }

    /// Counts an error, and writes it if the request has a reply.
    private func fail(_ id: RequestID?, _ error: ResponseError, into json: inout JSONWriter) {
        registry.counters.count(error)
        if let id { Response.write(id: id, error: error, to: &json) }
    }

    @inline(__always) private func single(
        _ line: ArraySlice<UInt8>, _ turn: inout Turn, into json: inout JSONWriter,
        _ perform: (inout Budget, inout Turn, inout JSONWriter) -> DeferredRequest?
    ) -> UnfinishedLine? {
        var budget = Budget(start: json.count, maximum: Limit.reply - 1)
        let waiting = perform(&budget, &turn, &json)
        if json.count > budget.start { json.newline() }
        turn.spend()
        guard let waiting else { return nil }
        let unfinished = UnfinishedLine(line)
        unfinished.waiting = waiting
        return unfinished
    }

    private func batch(
        _ entries: [Range<Int>], _ line: ArraySlice<UInt8>, _ caller: Caller, _ turn: inout Turn,
        into json: inout JSONWriter
    ) -> UnfinishedLine? {
        if (1...Limit.batch).contains(entries.count) {
            return proceed(UnfinishedLine(line, entries: entries), of: caller, &turn, into: &json)
        }
        refuse(
            entries.isEmpty
                ? .invalidRequest("A batch holds at least one request.")
                : .invalidRequest(
                    "The batch holds \(entries.count) requests, more than \(Limit.batch).",
                    hint: "Send several batches."), into: &json)
        turn.spend()
        return nil
    }

    /// Answers entries of a batch until a request is deferred or the turn is over.
    ///
    /// - Returns: the line if it is not finished.
    func proceed(
        _ batch: UnfinishedLine, of caller: Caller, _ turn: inout Turn, into json: inout JSONWriter
    ) -> UnfinishedLine? {
        guard let entries = batch.entries else { return batch }
        while batch.next < entries.count, !turn.isOver, batch.waiting == nil {
            let range = entries[batch.next]
            let start = batch.line.startIndex
            let entry = batch.line[start + range.lowerBound..<start + range.upperBound]
            batch.next += 1
            entry.withUnsafeBytes { bytes in
                // The whole line was parsed before, so an entry cannot fail.
                guard let envelope = try? RequestEnvelope(entry: bytes) else { return }
                batch.waiting = perform(envelope, entry, bytes, caller, &batch.budget, &turn, into: &batch.json)
            }
            turn.spend()
        }
        if batch.next < entries.count || batch.waiting != nil { return batch }
        // A batch of notifications has no reply line.
        guard batch.json.count > 1 else { return nil }
        batch.json.endArray()
        batch.json.newline()
        batch.json.withBytes { json.raw(lines: $0) }
        return nil
    }

    /// The part of a writer that a reply line may use.
    struct Budget {
        /// The beginning of the line.
        let start: Int
        let maximum: Int
        /// Set after a result did not fit; no later request of the line is performed.
        var isExceeded = false
    }

    private static let tooMuch = ResponseError.busy(
        "The reply would be longer than \(Limit.reply) bytes.", hint: "Ask for less at a time.")

    /// Performs a request and writes its reply, unless it is a notification or deferred.
    private func perform(
        _ envelope: RequestEnvelope, _ line: ArraySlice<UInt8>, _ bytes: UnsafeRawBufferPointer, _ caller: Caller,
        _ budget: inout Budget, _ turn: inout Turn, into json: inout JSONWriter
    ) -> DeferredRequest? {
        if let fault = envelope.fault(in: bytes) {
            fail(fault.id, fault.error, into: &json)
            return nil
        }
        guard let token = envelope.method else { return nil }
        let id = envelope.id
        let name = JSONValue(token, of: bytes)
        guard let method = registry.method(named: name) else {
            if id != nil, budget.isExceeded {
                fail(id, bytes, Exchange.tooMuch, into: &json)
            } else {
                fail(id, bytes, .unknownMethod(name.text ?? ""), into: &json)
            }
            return nil
        }
        repeated.store(bytes, envelope, method)
        return perform(method, id: id, line, bytes, caller, &budget, &turn, into: &json) { () throws(ResponseError) in
            try method.description.arguments(in: line, params: envelope.params)
        }
    }

    /// - Parameter arguments: reads and checks the arguments.
    @inline(__always) private func perform(
        _ method: MethodRegistry.Entry, id: JSONToken?, _ line: ArraySlice<UInt8>, _ bytes: UnsafeRawBufferPointer,
        _ caller: Caller, _ budget: inout Budget, _ turn: inout Turn, into json: inout JSONWriter,
        _ arguments: () throws(ResponseError) -> Arguments
    ) -> DeferredRequest? {
        if id != nil, budget.isExceeded {
            fail(id, bytes, Exchange.tooMuch, into: &json)
            return nil
        }
        method.meter.requests.add(1)
        let mark = json.mark()
        do throws(ResponseError) {
            open(id, bytes, in: &json)
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

    /// Writes a reply up to its result.
    @inline(__always) private func open(_ id: JSONToken?, _ bytes: UnsafeRawBufferPointer, in json: inout JSONWriter) {
        json.literal(#"{"jsonrpc":"2.0","id":"#)
        if let id { json.id(JSONValue(id, of: bytes)) }
        json.join(#","result":"#)
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
                open(id, bytes, in: &json)
                json.raw(result)
                json.join("}", endsValue: true)
                limit(&budget, id, bytes, since: mark, in: &json)
            }
        }
    }

    /// Replaces a result that does not fit by an error. Errors always fit.
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
    ) { fail(id.map { RequestID(JSONValue($0, of: bytes)) ?? .null }, error, into: &json) }
}

/// The last request line with an integer id. A line that repeats it with another id is not parsed again.
///
/// A line with the same bytes except the digits of the id is equally valid, because any integer of at most 15 digits is
/// valid. Clients that send many requests send such lines, and parsing a line takes as long as answering it.
final class RepeatedLine {
    /// The longest line that is stored, in bytes.
    private static let maximumLength = 512
    /// A number of this many digits is below 2^53.
    private static let maximumDigits = 15

    /// The request of the line; a class, so that it is not copied.
    final class Request {
        let method: MethodRegistry.Entry
        let arguments: Arguments

        init(_ method: MethodRegistry.Entry, _ arguments: Arguments) {
            self.method = method
            self.arguments = arguments
        }
    }

    private var bytes: [UInt8] = []
    /// The range of the id in ``bytes``.
    private var id = 0..<0
    private var request: Request?
    private var misses = 0

    /// The request and the id of a line that repeats the last line.
    @inline(__always) func match(_ line: UnsafeRawBufferPointer) -> (request: Request, id: JSONToken)? {
        let end = line.count - (bytes.count - id.upperBound)
        guard let request, end > id.lowerBound, end - id.lowerBound <= RepeatedLine.maximumDigits,
            let base = line.baseAddress
        else { return nil }
        let isSame = bytes.withUnsafeBytes { bytes in
            // Not nil, because a line with a request is not empty.
            memcmp(base, bytes.baseAddress!, id.lowerBound) == 0
                && memcmp(base + end, bytes.baseAddress! + id.upperBound, bytes.count - id.upperBound) == 0
        }
        guard isSame else { return nil }
        let range = id.lowerBound..<end
        for offset in range where line[offset] &- UInt8(ascii: "0") > 9 { return nil }
        guard line[range.lowerBound] != UInt8(ascii: "0") || range.count == 1 else { return nil }
        return (request, JSONToken(.integer, range))
    }

    /// Stores some of the lines that do not repeat the last line, because storing has a cost.
    func store(_ line: UnsafeRawBufferPointer, _ envelope: RequestEnvelope, _ method: MethodRegistry.Entry) {
        misses += 1
        guard misses.isMultiple(of: 8), line.count <= RepeatedLine.maximumLength, let id = envelope.id,
            id.kind == .integer, line[id.range.lowerBound] != UInt8(ascii: "-"),
            id.range.count <= RepeatedLine.maximumDigits
        else { return }
        // A copy, so that the arguments do not retain the connection's input.
        bytes = Array(line)
        guard let arguments = try? method.description.arguments(in: bytes[...], params: envelope.params) else {
            request = nil
            return
        }
        (self.id, request) = (id.range, Request(method, arguments))
    }
}
