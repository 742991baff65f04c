import NorrisFetchProtocol
import NorrisProtocol
import NorrisText

/// The reason why an upstream's content could not be fetched or decoded.
struct UpstreamError: Error, Equatable {
    enum Kind: Equatable {
        /// No connection, or a broken connection.
        case offline
        case timeout
        /// An unsuccessful status without a separate kind, or a redirect that is not followed.
        case http(status: Int)
        /// The requests of a key are used up.
        case quota
        /// The response is unusable.
        case decode
        /// The key was refused.
        case credentials
    }

    var kind: Kind
    /// One sentence for the user: sanitized, at most 500 characters, without the query part of any URL.
    var message: String
    /// The reply that is the failure, or that has one; nil if no head arrived.
    var reply: HostReply?
    /// Whether this upstream is known to recover from the status.
    var isTransient = false
    /// Whether a response arrived that cannot be used, and a cache on the way may have damaged it. A document beyond a
    /// limit is no damage, because a second one would cost as much.
    var isDamage = false
    /// Whether the message is the end of a sentence that begins with the upstream's name.
    var needsName = false
    /// The feeds that a web page names; nil if the upstream sent no web page.
    var feeds: [FeedLink]?
    /// The source that a web page represents.
    var found: FoundSource?

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = UpstreamError.cut(message, to: 500)
    }

    /// One sanitized line of at most `length` code points.
    static func cut(_ text: String, to length: Int) -> String { prefix(of: sanitizedLine(text), codePoints: length) }

    /// The failure in the output of norris-fetch.
    var failure: FetchFailure {
        var failure = FetchFailure(kind: .decode, message: message, reply: reply, feeds: feeds, found: found)
        switch kind {
        case .offline: (failure.kind, failure.isRetryable) = (.offline, true)
        case .timeout: (failure.kind, failure.isRetryable) = (.timeout, true)
        case .quota: (failure.kind, failure.isRetryable) = (.quota, true)
        case .http(let status):
            (failure.kind, failure.status) = (.http, status)
            failure.isRetryable = isTransient || [408, 425, 429].contains(status) || (500...599).contains(status)
        case .decode: failure.isRetryable = isTransient
        case .credentials: failure.kind = .credentials
        }
        return failure
    }

    // MARK: Connection errors

    static func early(_ url: HTTPURL) -> UpstreamError {
        UpstreamError(.offline, "\(url.authority) ended its answer early.")
    }

    static let refusedByProxy = UpstreamError(
        .http(status: 407), "The proxy needs a user name and password; set them in http.proxy.")

    static func refusal(of target: HTTPURL, from url: HTTPURL, _ reason: String) -> UpstreamError {
        let target = "\(target.scheme)://\(target.hostAndPath)"
        let message = "\(url.hostAndPath) redirects to \(target), but \(reason); configure that address."
        return UpstreamError(.http(status: 302), message)
    }

    // MARK: Responses

    /// A response that cannot be decoded.
    ///
    /// - Parameters:
    ///   - fault: the end of a sentence that begins with the upstream's name.
    ///   - url: the upstream; nil if the name is added later.
    static func unusable(_ fault: String, by url: HTTPURL? = nil) -> UpstreamError {
        var error = UpstreamError(.decode, url.map { "\($0.hostAndPath) \(fault)." } ?? fault)
        (error.isDamage, error.needsName) = (true, url == nil)
        return error
    }

    /// The error with the upstream's name.
    func named(_ url: HTTPURL) -> UpstreamError {
        guard needsName else { return self }
        var error = self
        let end = message.last == "?" ? "" : "."
        error.message = UpstreamError.cut("\(url.hostAndPath) \(message)\(end)", to: 500)
        error.needsName = false
        return error
    }

    /// A response of another type than a feed.
    ///
    /// - Parameters:
    ///   - type: the `Content-Type` of the response.
    ///   - feeds: the feeds that a web page names; nil for another document.
    ///   - found: the source that a web page represents.
    static func notAFeed(
        type: String?, feeds: [FeedLink]? = nil, found: FoundSource? = nil
    ) -> UpstreamError {
        let name = type.map { cut(String($0.prefix { $0 != ";" }), to: 60) } ?? ""
        let fault = "not a feed" + (name.isEmpty ? "" : " (\(name))")
        let feed = feeds?.first?.url ?? (found?.kind == PostSourceKind.feed.rawValue ? found?.url : nil)
        let advice = feed.map { "Its feed may be \($0)." } ?? "Use the address of a feed."
        var error = UpstreamError(.decode, "\(fault). \(advice)")
        // A page that names its feed comes from the upstream.
        (error.feeds, error.found) = (feeds, found)
        error.isDamage = feeds?.isEmpty ?? true && found == nil
        return error
    }

    static func tooLarge(_ url: HTTPURL, _ request: FetchRequest) -> UpstreamError {
        UpstreamError(.decode, "\(url.hostAndPath) answered with \(request.excess)")
    }

    /// An unsuccessful response. Its body is at least its beginning, and may be empty or HTML.
    init(_ response: HTTPResponse) {
        let status = response.status
        var message = "HTTP \(status) from \(response.url.hostAndPath)"
        if let reason = Self.message(in: response.body) { message += ": \(reason)" }
        if message.last != "." { message += "." }
        if status == 410 { message = "\(response.url.hostAndPath) is gone (HTTP 410)." }
        self.init(.http(status: status), status == 429 ? "rate limit (HTTP 429)." : message)
    }

    /// The upstream's error message: `message`, `msg` under `meta` (Giphy), or `error` (Mastodon).
    private static func message(in body: [UInt8]) -> String? {
        guard let object = JSONItem(item: body[...]) else { return nil }
        let texts = [
            object.object("meta")?.text("msg"), object.text("message"), object.text("error"),
        ]
        return texts.lazy.compactMap { $0.map { cut($0, to: 200) } }.first { !$0.isEmpty }
    }
}

extension FetchRequest {
    /// The end of a sentence about a document that is larger than ``maximumBody``.
    var excess: String {
        let isHighest = maximumBody >= FetchRequest.highestMaximumBody
        let advice = isHighest ? "http.max_body cannot be higher" : "raise http.max_body if that is right"
        return "more than \(maximumBody) bytes; \(advice)."
    }
}
