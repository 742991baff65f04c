import NorrisProtocol

@testable import NorrisServer

/// A request line, parsed in place, means what the tree of its values means.
@Sendable func fuzzRequests(_ input: ArraySlice<UInt8>) {
    let parsed = Result { () throws(JSONError) in try JSON.parse(input) }
    let tree = try? parsed.get()
    input.withRawBytes { bytes in
        let read = Result { () throws(JSONError) in try RequestLine(bytes) }
        guard case .success(let line) = read, let tree else {
            if case .failure(let error) = read, case .failure(error) = parsed { return }
            fatalError("The line is \(read), its tree \(parsed)")
        }
        switch (line, tree) {
        case (.batch(let ranges), .array(let entries)):
            require(ranges.count == entries.count, "The batch has \(ranges.count) entries, not \(entries.count)")
            for (range, entry) in zip(ranges, entries) {
                let bytes = UnsafeRawBufferPointer(rebasing: bytes[range])
                guard let envelope = try? RequestEnvelope(entry: bytes) else { fatalError("An entry was refused") }
                compare(envelope, bytes, entry)
            }
        case (.single(let envelope), _): compare(envelope, bytes, tree)
        case (.batch, _): fatalError("An entry was taken for a batch")
        }
    }
    guard let tree else { return }
    // A written tree reads as the same.
    let again = try? JSON.parse(tree.jsonBytes)
    require(again?.jsonBytes == tree.jsonBytes, "The tree changes when it is written and read again")
}

private func compare(_ envelope: RequestEnvelope, _ bytes: UnsafeRawBufferPointer, _ tree: JSON) {
    let fault = envelope.fault(in: bytes)
    guard case .object(let object) = tree else {
        require(fault != nil, "A value that is no object was taken for a request")
        return
    }
    let id = object["id"].map(requestID)
    let isRequest: Bool
    switch (object["method"], object["params"]) {
    case (.string?, nil), (.string?, .object?), (.string?, .array?):
        isRequest = object["jsonrpc"] == "2.0" && id != .some(nil)
    default: isRequest = false
    }
    require((fault == nil) == isRequest, "The fault is \(fault?.error.message ?? "nil")")
    if isRequest {
        let read = envelope.id.flatMap { RequestID(JSONValue($0, of: bytes)) }
        require(withoutSignOfZero(read) == id ?? nil, "The id differs")
        let method = envelope.method.flatMap { JSONValue($0, of: bytes).text }
        require(.string(method ?? "") == object["method"], "The method differs")
        let params = envelope.params.map { JSON(json: JSONValue($0, of: bytes)) }
        require(params == object["params"], "The parameters differ")
    } else {
        require(withoutSignOfZero(fault?.id) == (id ?? nil) ?? .null, "The id of the fault differs")
    }
}

/// The tree has no sign of zero.
private func withoutSignOfZero(_ id: RequestID?) -> RequestID? { id == .negativeZero ? .integer(0) : id }

private func requestID(_ json: JSON) -> RequestID? {
    switch json {
    case .null: .null
    case .integer(let integer): .integer(integer)
    case .string(let text): .string(text)
    case .bool, .double, .array, .object: nil
    }
}

/// Each line gets at most one reply line, which is a response or a batch of responses. All parameters of all methods
/// are checked; the results are empty.
@Sendable func fuzzExchange(_ input: ArraySlice<UInt8>) {
    // One exchange for all lines of an input, because an exchange remembers a line.
    let exchange = Exchange(registry: emptyMethods)
    for line in input.split(separator: UInt8(ascii: "\n")) {
        var json = JSONWriter()
        var turn = Turn(start: 0, now: { 0 })
        var rest = exchange.answer(line, of: nobody, &turn, into: &json)
        while let unfinished = rest {
            if unfinished.waiting != nil {
                rest = exchange.finish(unfinished, .success(Array("{}".utf8)), into: &json)
                if rest == nil { break }
            }
            turn = Turn(start: 0, now: { 0 })
            rest = exchange.proceed(unfinished, of: nobody, &turn, into: &json)
        }
        var reply = json.bytes
        guard let end = reply.popLast() else { continue }
        require(end == UInt8(ascii: "\n") && !reply.contains(UInt8(ascii: "\n")), "The reply is not one line")
        guard let value = try? JSON.parse(reply) else { fatalError("The reply is not JSON") }
        let responses: [JSON] = if case .array(let entries) = value { entries } else { [value] }
        require(!responses.isEmpty && responses.count <= Limit.batch, "\(responses.count) responses")
        for response in responses {
            require((try? Response(parsing: response.jsonBytes)) != nil, "\(response) is no response")
        }
    }
}

private let nobody = Caller(
    peer: Peer(uid: 65_534, gid: 65_534, groups: []), subscription: Subscription(hub: EventHub(), uid: 65_534) {},
    isAdministrator: { _ in true })

/// All methods, answered with an empty object: half at once, half later.
private let emptyMethods: MethodRegistry = {
    let bodies = MethodTable.methods.enumerated().map { ($1.name, $0.isMultiple(of: 2) ? later : atOnce) }
    return MethodRegistry(bodies: Dictionary(uniqueKeysWithValues: bodies), isAdministrator: { _ in true })
}()

private let atOnce: Handler.Body = { call, json throws(ResponseError) in
    json.raw(Array("{}".utf8))
    return nil
}

private let later: Handler.Body = { call, _ throws(ResponseError) in
    .disk { () async throws(ResponseError) -> [UInt8] in Array("{}".utf8) }
}
