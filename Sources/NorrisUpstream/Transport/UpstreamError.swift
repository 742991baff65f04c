import CCurl
import Glibc
import NorrisProtocol
import NorrisSystem
import NorrisText

/// The reason why an upstream's content could not be fetched or decoded, and whether to retry.
package struct UpstreamError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Kind: Equatable, Sendable {
        /// No connection, or a broken connection.
        case offline
        case timeout
        /// An unsuccessful status without a separate kind, or a redirect that is not followed.
        case http(status: Int)
        /// Status 429, or norrisd's own budget of requests is used up.
        case quota
        /// The response is unusable.
        case decode
        /// A key is missing or was refused.
        case credentials
        /// The caller cancelled the request; the error is neither shown nor counted.
        case cancelled
    }

    package var kind: Kind
    /// One sentence for the user: sanitized, at most 500 characters, without the query part of any URL.
    package var message: String
    /// The pause that the upstream requests: 0...24 h.
    package var retryAfter: Duration?
    /// Whether this upstream is known to recover from the status, or norrisd had no memory for the response.
    var isTransient = false
    /// Whether a response arrived that cannot be used, and a cache on the way may have damaged it. A document beyond a
    /// limit is no damage, because a second one would cost as much.
    var isDamage = false
    /// Whether the message needs no name of the upstream before it.
    var isComplete = false
    /// The address of the feed that a web page names, if the upstream sent a web page instead of a feed.
    package var feedURL: String?

    package init(_ kind: Kind, _ message: String, retryAfter: Duration? = nil) {
        self.kind = kind
        self.message = Self.cut(message, to: 500)
        self.retryAfter = retryAfter
    }

    /// Whether the same request may succeed soon: no response, 408, 425, 429, any 5xx, or ``isTransient``.
    package var isRetryable: Bool {
        switch kind {
        case .offline, .timeout, .quota: true
        case .http(let status): isTransient || status == 408 || status == 425 || (500...599).contains(status)
        case .decode: isTransient
        case .credentials, .cancelled: false
        }
    }

    package var description: String { message }

    /// One sanitized line of at most `length` code points.
    static func cut(_ text: String, to length: Int) -> String { prefix(of: sanitizedLine(text), codePoints: length) }

    // MARK: Connection errors

    static let cancelled = UpstreamError(.cancelled, "The request was cancelled.")

    static func late(_ url: HTTPURL, _ timeout: Duration) -> UpstreamError {
        UpstreamError(.timeout, "no complete answer from \(url.authority) within \(timeout.text).")
    }

    static func early(_ url: HTTPURL) -> UpstreamError {
        UpstreamError(.offline, "\(url.authority) ended its answer early.")
    }

    /// Other responses use all memory that norrisd has for responses.
    static func busy(_ name: String) -> UpstreamError {
        let fault = "answered, but other responses use all of norrisd's response memory"
        var error = name.isEmpty ? .unusable(fault) : UpstreamError(.decode, "\(name) \(fault).")
        (error.isTransient, error.isDamage) = (true, false)
        return error
    }

    static let refusedByProxy = UpstreamError(
        .http(status: 407), "The proxy needs a user name and password; set them in http.proxy.")

    /// Describes a code of libcurl (libcurl-errors(3)). Its message `text` distinguishes the meanings of some codes.
    init(_ code: CURLcode, of transfer: Transfer, saying text: String) {
        let (url, settings) = (transfer.fetch.url, transfer.fetch.settings)
        let host = url.authority
        switch code {
        case CURLE_OPERATION_TIMEDOUT:
            // The fetch thread measures all other timeouts.
            self.init(.timeout, "No connection to \(host) within \(settings.connectTimeout.text).")
        case CURLE_URL_MALFORMAT:
            self.init(.decode, "\(url.hostAndPath) is not a usable URL; correct the configured address.")
        case CURLE_BAD_CONTENT_ENCODING:
            self.init(.decode, "\(url.hostAndPath) answered with compressed content that is damaged.")
            isDamage = true
        // A status line of HTTP/0.9 or of an unknown version, or invalid header fields.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY,
            CURLE_RECV_ERROR where text.contains("chunked-encoding"):
            self.init(.decode, "\(host) answered with something that is not HTTP.")
            isDamage = true
        case _ where transfer.isConnected: self = .early(url)
        default:
            let proxyStatus = curl_get_long(transfer.easy, CURLINFO_HTTP_CONNECTCODE)
            if proxyStatus == 407 {
                self = .refusedByProxy
            } else if proxyStatus != 0 || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING {
                self.init(.offline, "The proxy does not connect to \(host).")
            } else if let cause = Self.cause(inTLS: code, transfer.easy, text) {
                self.init(.offline, "\(host) cannot be reached: \(cause).")
            } else {
                // With a proxy, norrisd connects to nothing else.
                let way = settings.proxy.map { " through the proxy \($0)" } ?? ""
                self.init(.offline, "\(host) cannot be reached\(way): \(Self.cause(code, transfer.easy)).")
            }
        }
    }

    private static func cause(_ code: CURLcode, _ easy: UnsafeMutableRawPointer) -> String {
        if code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY {
            return "the name cannot be resolved"
        }
        switch CInt(truncatingIfNeeded: curl_get_long(easy, CURLINFO_OS_ERRNO)) {
        case 0: return "the connection broke"
        case ECONNREFUSED: return "connection refused"
        case ECONNRESET, EPIPE: return "connection reset"
        case ENETUNREACH, EHOSTUNREACH: return "no route"
        case let code: return SystemError.reason(code)
        }
    }

    /// The cause of a TLS failure; nil if the code is unrelated to TLS.
    private static func cause(inTLS code: CURLcode, _ easy: UnsafeMutableRawPointer, _ text: String) -> String? {
        switch code {
        case CURLE_PEER_FAILED_VERIFICATION where text.contains("subject name"):
            return "the certificate is for another name"
        case CURLE_PEER_FAILED_VERIFICATION:
            // X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED of X509_STORE_CTX_get_error(3).
            switch curl_get_long(easy, CURLINFO_SSL_VERIFYRESULT) {
            case 9: return "the certificate is not valid yet"
            case 10: return "the certificate has expired"
            default: return "the certificate is not trusted"
            }
        case CURLE_SSL_CACERT_BADFILE: return "the file of trusted certificates cannot be read; check SSL_CERT_FILE"
        case CURLE_SSL_CONNECT_ERROR where text.contains("wrong version number"):
            return "the server does not use TLS on this port"
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR:
            return "TLS failed"
        default: return nil
        }
    }

    // MARK: Responses

    /// A response that cannot be decoded. `fault` ends a sentence that ``Fetcher`` begins with the upstream's name.
    static func unusable(_ fault: String) -> UpstreamError {
        var error = UpstreamError(.decode, fault)
        error.isDamage = true
        return error
    }

    /// A response of another type than a feed.
    ///
    /// - Parameters:
    ///   - type: the `Content-Type` of the response.
    ///   - feedURL: the address of the feed that a web page names.
    static func notAFeed(type: String?, feedURL: String? = nil) -> UpstreamError {
        let name = type.map { cut(String($0.prefix { $0 != ";" }), to: 60) } ?? ""
        let fault = "not a feed" + (name.isEmpty ? "" : " (\(name))")
        let advice = feedURL.map { "Its feed may be \($0)." } ?? "Set url to the address of a feed."
        var error = UpstreamError(.decode, "\(fault). \(advice)")
        // A page that names its feed comes from the upstream.
        (error.isComplete, error.feedURL, error.isDamage) = (true, feedURL, feedURL == nil)
        return error
    }

    static func tooLarge(_ url: HTTPURL, _ maximumBody: Int) -> UpstreamError {
        let limit = "more than \(maximumBody) bytes; raise http.max_body if that is right."
        return UpstreamError(.decode, "\(url.hostAndPath) answered with \(limit)")
    }

    /// A response whose status is neither 200 nor 304. `body` is at least its beginning, and may be empty or HTML.
    init(status: Int, from url: HTTPURL?, headers: HTTPHeaderFields, body: [UInt8], now: Timestamp) {
        var message = "HTTP \(status) from \(url?.hostAndPath ?? "the upstream")"
        if let reason = Self.message(in: body) { message += ": \(reason)" }
        if message.last != "." { message += "." }
        let retryAfter = headers["retry-after"].flatMap { NorrisUpstream.retryAfter($0, now: now) }
        if status == 429 {
            self.init(.quota, "rate limit (HTTP 429).", retryAfter: retryAfter ?? rateLimitReset(headers, now: now))
        } else {
            self.init(.http(status: status), message, retryAfter: retryAfter)
        }
    }

    /// The upstream's error message: `message`, `msg` under `meta` (Giphy), or `error` (Mastodon).
    private static func message(in body: [UInt8]) -> String? {
        guard let object = JSONItem(item: body[...]) else { return nil }
        let texts = [
            object.object("meta")?.text("msg", .line), object.text("message", .line), object.text("error", .line),
        ]
        return texts.lazy.compactMap { $0.map { cut($0, to: 200) } }.first { !$0.isEmpty }
    }
}

extension Duration {
    /// The duration in a message: `10 s`, `1.5 s`, `250 ms`.
    var text: String {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        if 1..<1000 ~= milliseconds { return "\(milliseconds) ms" }
        let tenths = milliseconds / 100 + (milliseconds % 100 >= 50 ? 1 : 0)
        return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
    }
}
