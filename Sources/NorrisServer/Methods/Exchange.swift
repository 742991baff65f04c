import NorrisProtocol

/// A line whose answer takes more than one turn: a request that waits for a disk or a network, or a batch with entries
/// that are left.
final class UnfinishedLine {
    /// A request that waits.
    final class Waiting {
        let deferred: Deferred
        /// The request's id, as a token of `line`; nil for a notification.
        let id: JSONToken?
        let line: ArraySlice<UInt8>
        let method: MethodRegistry.Method
        /// When the request began, in nanoseconds.
        let start = monotonicNanoseconds()

        fileprivate init(
            _ deferred: Deferred, id: JSONToken?, _ line: ArraySlice<UInt8>, _ method: MethodRegistry.Method
        ) {
            self.deferred = deferred
            self.id = id
            self.line = line
            self.method = method
        }
    }

    let line: ArraySlice<UInt8>
    /// Of a batch; nil for a single request.
    fileprivate let entries: [Range<Int>]?
    /// The first entry that is left.
    fileprivate var next = 0
    /// The reply of a batch as far as it is made.
    fileprivate var json = JSONWriter()
    fileprivate var room: Exchange.Room
    /// The request that holds up the line; nil where its turn was over.
    fileprivate(set) var waiting: Waiting?

    fileprivate init(_ line: ArraySlice<UInt8>, entries: [Range<Int>]? = nil) {
        self.line = line
        self.entries = entries
        room = Exchange.Room(start: 0, budget: Exchange.batchBudget(line: line.count))
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

    init(registry: MethodRegistry) {
        self.registry = registry
    }

    /// Answers a line into the writer, as far as the turn goes and nothing has to be waited for.
    ///
    /// - Returns: the rest of the line, or nil where everything is written.
    func answer(
        _ line: ArraySlice<UInt8>, of caller: Caller, _ turn: inout Turn, into json: inout JSONWriter
    ) -> UnfinishedLine? {
        line.withUnsafeBytes { bytes in
            if let (request, id) = repeated.match(bytes) {
                return single(line, &turn, into: &json) { room, turn, json in
                    perform(
                        request.method, id: id, line, bytes, caller, &room, &turn, into: &json,
                        { () throws(ResponseError) in request.arguments }
                    )
                }
            }
            do throws(JSONError) {
                switch try RequestLine(bytes) {
                case .single(let envelope):
                    return single(line, &turn, into: &json) { room, turn, json in
                        perform(envelope, line, bytes, caller, &room, &turn, into: &json)
                    }
                case .batch(let entries):
                    return batch(entries, line, caller, &turn, into: &json)
                }
            } catch {
                refuse(.parseError(error), into: &json)
                turn.spend(written: json.count)
                return nil
            }
        }
    }

    /// Goes on with a line whose turn was over.
    ///
    /// - Returns: the line where it still is not done.
    func resume(
        _ line: UnfinishedLine, of caller: Caller, _ turn: inout Turn, into json: inout JSONWriter
    ) -> UnfinishedLine? {
        proceed(line, caller, &turn, into: &json)
    }

    /// Takes the result that a line waited for; a batch goes on with ``resume(_:of:_:into:)``.
    ///
    /// - Returns: the line where it is not done.
    func finish(
        _ line: UnfinishedLine, _ result: Result<[UInt8], ResponseError>, into json: inout JSONWriter
    ) -> UnfinishedLine? {
        guard let waiting = line.waiting else { preconditionFailure("A result comes to a line that waits for one") }
        line.waiting = nil
        waiting.method.meter.end(waiting.start)
        guard line.entries != nil else {
            var room = Room(start: json.count, budget: Exchange.maximumReply - 1)
            settle(waiting, result, &room, into: &json)
            if json.count > room.start { json.newline() }
            return nil
        }
        settle(waiting, result, &line.room, into: &line.json)
        return line
    }

    /// How long the reply to a batch of so many bytes may become by results. What is held back leaves room for the
    /// errors of all entries, with what they repeat of the line, of which a byte may take six.
    static func batchBudget(line: Int) -> Int {
        maximumReply - maximumBatch * 1024 - line * 6
    }

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
        registry.errors.count(error)
        if let id { Response.write(id: id, error: error, to: &json) }
    }

    @inline(__always)
    private func single(
        _ line: ArraySlice<UInt8>, _ turn: inout Turn, into json: inout JSONWriter,
        _ perform: (inout Room, inout Turn, inout JSONWriter) -> UnfinishedLine.Waiting?
    ) -> UnfinishedLine? {
        var room = Room(start: json.count, budget: Exchange.maximumReply - 1)
        let waiting = perform(&room, &turn, &json)
        if json.count > room.start { json.newline() }
        turn.spend(written: json.count)
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
            return proceed(UnfinishedLine(line, entries: entries), caller, &turn, into: &json)
        }
        refuse(
            entries.isEmpty
                ? .invalidRequest("A batch holds at least one request.")
                : .invalidRequest(
                    "The batch holds \(entries.count) requests, more than \(Exchange.maximumBatch).",
                    hint: "Send several batches."
                ),
            into: &json
        )
        turn.spend(written: json.count)
        return nil
    }

    /// Answers entries of a batch until one has to wait or the turn is over.
    private func proceed(
        _ batch: UnfinishedLine, _ caller: Caller, _ turn: inout Turn, into json: inout JSONWriter
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
                batch.waiting = perform(envelope, entry, bytes, caller, &batch.room, &turn, into: &batch.json)
            }
            turn.spend(written: batch.json.count)
        }
        if batch.next < entries.count || batch.waiting != nil { return batch }
        // A batch of notifications only: no line at all.
        guard batch.json.count > 1 else { return nil }
        batch.json.endArray()
        batch.json.newline()
        batch.json.withBytes { json.raw(lines: $0) }
        return nil
    }

    /// The room that a reply line has in a writer.
    struct Room {
        /// Where the line begins.
        let start: Int
        let budget: Int
        /// Once a result did not fit, no later request of the line is performed.
        var isFull = false
    }

    private static let tooMuch = ResponseError.busy(
        "The reply would be longer than \(maximumReply) bytes.",
        hint: "Ask for less at a time."
    )

    /// Runs a request and writes its reply, if it is to have one and need not wait.
    private func perform(
        _ envelope: RequestEnvelope, _ line: ArraySlice<UInt8>, _ bytes: UnsafeRawBufferPointer, _ caller: Caller,
        _ room: inout Room, _ turn: inout Turn, into json: inout JSONWriter
    ) -> UnfinishedLine.Waiting? {
        guard envelope.isRequest, let name = envelope.method else {
            if let fault = envelope.fault(in: bytes) { fail(fault.id, fault.error, into: &json) }
            return nil
        }
        let id = envelope.id
        guard let method = registry.method(named: name, in: bytes) else {
            if id != nil, room.isFull {
                fail(id, bytes, Exchange.tooMuch, into: &json)
            } else {
                fail(id, bytes, .unknownMethod(name.text(in: bytes)), into: &json)
            }
            return nil
        }
        repeated.note(bytes, envelope, method)
        return perform(method, id: id, line, bytes, caller, &room, &turn, into: &json) { () throws(ResponseError) in
            try method.description.arguments(in: line, params: envelope.params)
        }
    }

    /// - Parameter arguments: reads and checks them.
    @inline(__always)
    private func perform(
        _ method: MethodRegistry.Method, id: JSONToken?, _ line: ArraySlice<UInt8>, _ bytes: UnsafeRawBufferPointer,
        _ caller: Caller, _ room: inout Room, _ turn: inout Turn, into json: inout JSONWriter,
        _ arguments: () throws(ResponseError) -> Arguments
    ) -> UnfinishedLine.Waiting? {
        if id != nil, room.isFull {
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
                return UnfinishedLine.Waiting(deferred, id: id, line, method)
            }
            json.join("}", endsValue: true)
            if id == nil {
                json.rewind(to: mark)
            } else {
                limit(&room, id, bytes, since: mark, in: &json)
            }
        } catch {
            json.rewind(to: mark)
            fail(id, bytes, error, into: &json)
        }
        turn.answered(method)
        return nil
    }

    private func settle(
        _ waiting: UnfinishedLine.Waiting, _ result: Result<[UInt8], ResponseError>, _ room: inout Room,
        into json: inout JSONWriter
    ) {
        waiting.line.withRawBytes { bytes in
            switch result {
            case .failure(let error):
                fail(waiting.id, bytes, error, into: &json)
            case .success(let result):
                guard let id = waiting.id else { return }
                let mark = json.mark()
                json.literal(#"{"jsonrpc":"2.0","id":"#)
                json.id(id, in: bytes)
                json.join(#","result":"#)
                json.raw(result)
                json.join("}", endsValue: true)
                limit(&room, id, bytes, since: mark, in: &json)
            }
        }
    }

    /// Puts an error in place of a result that did not fit. Errors themselves always have room.
    private func limit(
        _ room: inout Room, _ id: JSONToken?, _ bytes: UnsafeRawBufferPointer, since mark: JSONWriter.Mark,
        in json: inout JSONWriter
    ) {
        guard json.count - room.start > room.budget else { return }
        room.isFull = true
        json.rewind(to: mark)
        fail(id, bytes, Exchange.tooMuch, into: &json)
    }

    private func fail(
        _ id: JSONToken?, _ bytes: UnsafeRawBufferPointer, _ error: ResponseError, into json: inout JSONWriter
    ) {
        fail(id.map { RequestID($0, in: bytes) }, error, into: &json)
    }
}
