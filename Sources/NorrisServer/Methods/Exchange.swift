import NorrisProtocol

/// What a connection still has to wait for before it may answer its next line; gives the rest of the reply.
typealias Continuation = @Sendable () async -> [UInt8]

/// Turns one line into one reply line, a single request or a batch (JSON-RPC 2.0, sections 4 to 6).
struct Exchange: Sendable {
    /// How many requests a batch may hold.
    static let maximumBatch = 64
    /// How long a reply line may become: what a connection may hold.
    static let maximumReply = 4 * 1024 * 1024

    let registry: MethodRegistry
    let peer: Peer
    let subscription: Subscription

    /// Answers a line into the writer, as far as it can without waiting.
    ///
    /// - Returns: what gives the whole reply line later, or nil where everything is written.
    func answer(_ line: ArraySlice<UInt8>, into json: inout JSONWriter) -> Continuation? {
        let message: JSON
        do {
            message = try JSON.parse(line)
        } catch {
            return refuse(.parseError(error), into: &json)
        }
        guard case .array(let entries) = message else {
            return single(message, into: &json)
        }
        if entries.isEmpty {
            return refuse(.invalidRequest("A batch holds at least one request."), into: &json)
        }
        if entries.count > Exchange.maximumBatch {
            return refuse(
                .invalidRequest(
                    "The batch holds \(entries.count) requests, more than \(Exchange.maximumBatch).",
                    hint: "Send several batches."
                ),
                into: &json
            )
        }
        return batch(entries, budget: Exchange.batchBudget(line: line.count), into: &json)
    }

    /// How long the reply to a batch of so many bytes may become by results. What is held back leaves room for the
    /// errors of all entries, with what they repeat of the line, of which a byte may take six.
    static func batchBudget(line: Int) -> Int {
        maximumReply - maximumBatch * 1024 - line * 6
    }

    /// Answers a line that was too long to be kept.
    func refuseLongLine(into json: inout JSONWriter) {
        _ = refuse(.lineTooLong(maximum: LineSplitter.maximumRequest), into: &json)
    }

    private func refuse(_ error: ResponseError, into json: inout JSONWriter) -> Continuation? {
        fail(.null, error, into: &json)
        json.newline()
        return nil
    }

    /// Counts an error, and writes it where there is to be a reply.
    private func fail(_ id: RequestID?, _ error: ResponseError, into json: inout JSONWriter) {
        registry.errors.count(error)
        if let id { Response.write(id: id, error: error, to: &json) }
    }

    private func single(_ message: JSON, into json: inout JSONWriter) -> Continuation? {
        var room = Room(start: json.count, budget: Exchange.maximumReply - 1)
        guard let rest = entry(message, &room, into: &json) else {
            if json.count > room.start { json.newline() }
            return nil
        }
        return { [room] in
            var json = JSONWriter()
            var room = room.moved(to: 0)
            await rest(&room, &json)
            if json.count > 0 { json.newline() }
            return json.bytes
        }
    }

    private func batch(_ entries: [JSON], budget: Int, into json: inout JSONWriter) -> Continuation? {
        let mark = json.mark()
        var room = Room(start: json.count, budget: budget)
        json.beginArray()
        let opened = json.count
        for (index, message) in entries.enumerated() {
            guard let rest = entry(message, &room, into: &json) else { continue }
            // The first entry that has to wait takes the rest of the batch with it, so that entries keep their order.
            let written = Array(json.bytes[room.start...])
            json.rewind(to: mark)
            let remaining = Array(entries[(index + 1)...])
            return { [room] in await self.finish(written, rest, remaining, room.moved(to: 0)) }
        }
        if json.count == opened {
            // A batch of notifications only: no line at all.
            json.rewind(to: mark)
        } else {
            json.endArray()
            json.newline()
        }
        return nil
    }

    private func finish(_ written: [UInt8], _ first: Rest, _ remaining: [JSON], _ room: Room) async -> [UInt8] {
        var json = JSONWriter(resuming: written)
        var room = room
        await first(&room, &json)
        for message in remaining {
            if let rest = entry(message, &room, into: &json) {
                await rest(&room, &json)
            }
        }
        // One byte is the opening bracket: notifications only.
        guard json.count > 1 else { return [] }
        json.endArray()
        json.newline()
        return json.bytes
    }

    /// The room that a reply line has in a writer.
    private struct Room {
        /// Where the line begins.
        let start: Int
        let budget: Int
        /// Once a result did not fit, no later request of the line is performed.
        var isFull = false

        /// The same room in another writer.
        func moved(to start: Int) -> Room {
            Room(start: start, budget: budget, isFull: isFull)
        }
    }

    /// Puts an error in place of a result that did not fit. Errors themselves always have room.
    private func limit(
        _ room: inout Room, _ id: RequestID, since mark: JSONWriter.Mark, in json: inout JSONWriter
    ) {
        guard json.count - room.start > room.budget else { return }
        room.isFull = true
        json.rewind(to: mark)
        fail(id, Exchange.tooMuch, into: &json)
    }

    /// The rest of a reply, written when it has become known.
    private typealias Rest = @Sendable (inout Room, inout JSONWriter) async -> Void

    /// Answers a request or an entry of a batch, if there is room; writes nothing for a notification.
    private func entry(_ message: JSON, _ room: inout Room, into json: inout JSONWriter) -> Rest? {
        let request: Request
        do {
            request = try Request(json: message)
        } catch {
            fail(error.id, error.error, into: &json)
            return nil
        }
        if let id = request.id, room.isFull {
            fail(id, Exchange.tooMuch, into: &json)
            return nil
        }
        guard let deferred = perform(request, &room, into: &json) else { return nil }
        return { room, json in await settle(request.id, deferred, &room, into: &json) }
    }

    private static let tooMuch = ResponseError.busy(
        "The reply would be longer than \(maximumReply) bytes.",
        hint: "Ask for less at a time."
    )

    /// Runs a request and writes its reply, if it is to have one and need not wait.
    private func perform(_ request: Request, _ room: inout Room, into json: inout JSONWriter) -> Deferred? {
        let mark = json.mark()
        var deferred: Deferred?
        var failure: ResponseError?
        Response.write(id: request.id ?? .null, to: &json) { json in
            do throws(ResponseError) {
                deferred = try registry.perform(request, peer: peer, subscription: subscription, into: &json)
            } catch {
                failure = error
            }
        }
        if deferred != nil || failure != nil || request.id == nil {
            json.rewind(to: mark)
        }
        if let failure {
            fail(request.id, failure, into: &json)
        } else if deferred == nil, let id = request.id {
            limit(&room, id, since: mark, in: &json)
        }
        return deferred
    }

    private func settle(
        _ id: RequestID?, _ deferred: Deferred, _ room: inout Room, into json: inout JSONWriter
    ) async {
        do throws(ResponseError) {
            let result = try await deferred()
            guard let id else { return }
            let mark = json.mark()
            Response.write(id: id, to: &json) { $0.raw(result) }
            limit(&room, id, since: mark, in: &json)
        } catch {
            fail(id, error, into: &json)
        }
    }
}
