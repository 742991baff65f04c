import NorrisProtocol

extension UpstreamError {
    /// For an answer whose status is neither 200 nor 304.
    ///
    /// - Parameter body: its beginning at least; may be empty, HTML, anything.
    init(status: Int, from url: HTTPURL, headers: HTTPHeaderFields, body: [UInt8], now: Timestamp) {
        var message = "HTTP \(status) from \(url.place)"
        if let reason = Self.message(in: body) {
            message += ": \(reason)"
        }
        if message.last != "." { message += "." }
        self.init(
            status == 429 ? .quota : .http(status: status),
            message,
            retryAfter: headers["retry-after"].flatMap { NorrisUpstream.retryAfter($0, now: now) }
        )
    }

    /// What an upstream says of its own error, if its body is a JSON object with a `message`.
    private static func message(in body: [UInt8]) -> String? {
        guard let json = try? JSON.parse(body), case .object(let object) = json,
            case .string(let message)? = object["message"]
        else { return nil }
        let text = cut(message, to: 200)
        return text.isEmpty ? nil : text
    }
}
