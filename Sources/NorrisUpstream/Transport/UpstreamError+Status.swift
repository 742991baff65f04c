import NorrisProtocol

extension UpstreamError {
    /// For an answer whose status is neither 200 nor 304.
    ///
    /// - Parameter body: its beginning at least; may be empty, HTML, anything.
    init(status: Int, from url: HTTPURL?, headers: HTTPHeaderFields, body: [UInt8], now: Timestamp) {
        var message = "HTTP \(status) from \(url?.place ?? "the upstream")"
        if let reason = Self.message(in: body) {
            message += ": \(reason)"
        }
        if message.last != "." { message += "." }
        let retryAfter = headers["retry-after"].flatMap { NorrisUpstream.retryAfter($0, now: now) }
        if status == 429 {
            self.init(.quota, message, retryAfter: retryAfter ?? rateLimitReset(headers, now: now))
        } else {
            self.init(.http(status: status), message, retryAfter: retryAfter)
        }
    }

    /// What an upstream says of its own error, if its body is a JSON object with a `message`, a `msg` under `meta`, or an
    /// `error`: Giphy and Mastodon have names of their own for it.
    private static func message(in body: [UInt8]) -> String? {
        guard let json = try? JSON.parse(body), case .object(let object) = json else { return nil }
        let texts = [object["meta"]?.member("msg"), object["message"], object["error"]].map { json in
            if case .string(let message)? = json { cut(message, to: 200) } else { "" }
        }
        return texts.first { !$0.isEmpty }
    }
}

extension JSON {
    fileprivate func member(_ key: String) -> JSON? {
        if case .object(let object) = self { object[key] } else { nil }
    }
}
