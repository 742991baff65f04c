import NorrisProtocol

/// What a connection still has to wait for before it may answer its next line; gives the rest of the reply.
typealias Continuation = @Sendable () async -> [UInt8]

/// Turns one line into one reply line, a single request or a batch (JSON-RPC 2.0, sections 4 to 6).
struct Exchange: Sendable {
    /// How many requests a batch may hold.
    static let maximumBatch = 64
    /// How long a reply line may become, in bytes: no more than a connection may hold.
    static let maximumReply = 4 * 1024 * 1024

    let registry: MethodRegistry
    let peer: Peer

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
        // What is held back leaves room for the refusal of every entry with its id, each byte of it escaped.
        let refusals = 6 * line.count + Exchange.maximumBatch * 256
        return batch(entries, budget: Exchange.maximumReply - refusals, into: &json)
    }

    /// Answers a line that was too long to be kept.
    func refuseLongLine(into json: inout JSONWriter) {
        _ = refuse(.lineTooLong(maximum: LineSplitter.maximumRequest), into: &json)
    }

    private func refuse(_ error: ResponseError, into json: inout JSONWriter) -> Continuation? {
        Response.write(id: .null, error: error, to: &json)
        json.newline()
        return nil
    }

    private func single(_ message: JSON, into json: inout JSONWriter) -> Continuation? {
        let start = json.count
        var isFull = false
        let budget = Exchange.maximumReply - 1
        guard let rest = bounded(message, limit: start + budget, &isFull, into: &json) else {
            if json.count > start { json.newline() }
            return nil
        }
        return {
            var json = JSONWriter()
            var isFull = false
            await self.settle(message, rest, limit: budget, &isFull, into: &json)
            if json.count > 0 { json.newline() }
            return json.bytes
        }
    }

    private func batch(_ entries: [JSON], budget: Int, into json: inout JSONWriter) -> Continuation? {
        let mark = json.mark()
        let start = json.count
        json.beginArray()
        let opened = json.count
        var isFull = false
        for (index, message) in entries.enumerated() {
            guard let rest = bounded(message, limit: start + budget, &isFull, into: &json) else { continue }
            // The first entry that has to wait takes the rest of the batch with it, so that entries keep their order.
            let written = Array(json.bytes[start...])
            json.rewind(to: mark)
            let remaining = Array(entries[(index + 1)...])
            return { await self.finish(written, message, rest, remaining, budget: budget) }
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

    private func finish(
        _ written: [UInt8], _ first: JSON, _ rest: Rest, _ remaining: [JSON], budget: Int
    ) async -> [UInt8] {
        var json = JSONWriter(resuming: written)
        var isFull = false
        await settle(first, rest, limit: budget, &isFull, into: &json)
        for message in remaining {
            if let rest = bounded(message, limit: budget, &isFull, into: &json) {
                await settle(message, rest, limit: budget, &isFull, into: &json)
            }
        }
        // One byte is the opening bracket: notifications only.
        guard json.count > 1 else { return [] }
        json.endArray()
        json.newline()
        return json.bytes
    }

    /// One request of the line. The one that would overfill the reply is refused, and those after it are not begun.
    ///
    /// - Parameter limit: what the writer may hold after it.
    private func bounded(
        _ message: JSON, limit: Int, _ isFull: inout Bool, into json: inout JSONWriter
    ) -> Rest? {
        if isFull {
            refuseOverflowing(message, into: &json)
            return nil
        }
        let mark = json.mark()
        if let rest = entry(message, into: &json) { return rest }
        if json.count > limit {
            isFull = true
            json.rewind(to: mark)
            refuseOverflowing(message, into: &json)
        }
        return nil
    }

    /// The rest of a request, which may overfill the reply too.
    private func settle(
        _ message: JSON, _ rest: Rest, limit: Int, _ isFull: inout Bool, into json: inout JSONWriter
    ) async {
        let mark = json.mark()
        await rest(&json)
        if json.count > limit {
            isFull = true
            json.rewind(to: mark)
            refuseOverflowing(message, into: &json)
        }
    }

    private func refuseOverflowing(_ message: JSON, into json: inout JSONWriter) {
        let error = ResponseError.busy(
            "The reply would be longer than \(Exchange.maximumReply) bytes.",
            hint: "Ask for less at a time."
        )
        do throws(EnvelopeError) {
            let request = try Request(json: message)
            guard let id = request.id else { return }
            Response.write(id: id, error: error, to: &json)
        } catch {
            Response.write(id: error.id, error: error.error, to: &json)
        }
    }

    /// The rest of an entry, written when it has become known.
    private typealias Rest = @Sendable (inout JSONWriter) async -> Void

    /// Answers one request; writes nothing for a notification.
    private func entry(_ message: JSON, into json: inout JSONWriter) -> Rest? {
        let request: Request
        do {
            request = try Request(json: message)
        } catch {
            Response.write(id: error.id, error: error.error, to: &json)
            return nil
        }
        let mark = json.mark()
        var deferred: Deferred?
        var failure: ResponseError?
        Response.write(id: request.id ?? .null, to: &json) { json in
            do throws(ResponseError) {
                deferred = try registry.perform(request, peer: peer, into: &json)
            } catch {
                failure = error
            }
        }
        if let deferred {
            json.rewind(to: mark)
            return { await Exchange.settle(request.id, deferred, into: &$0) }
        }
        if failure != nil || request.id == nil {
            json.rewind(to: mark)
        }
        if let failure, let id = request.id {
            Response.write(id: id, error: failure, to: &json)
        }
        return nil
    }

    private static func settle(_ id: RequestID?, _ deferred: Deferred, into json: inout JSONWriter) async {
        do throws(ResponseError) {
            let result = try await deferred()
            guard let id else { return }
            Response.write(id: id, to: &json) { $0.raw(result) }
        } catch {
            guard let id else { return }
            Response.write(id: id, error: error, to: &json)
        }
    }
}
