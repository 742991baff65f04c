import CCurl
import Glibc
import NorrisProtocol
import NorrisSystem
import NorrisText

/// Why an upstream could not be fetched or decoded, and whether to retry.
package struct UpstreamError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Kind: Equatable, Sendable {
        /// No connection, or it broke.
        case offline
        case timeout
        /// A status that is neither success nor one of the kinds below, or a redirect that is not followed.
        case http(status: Int)
        /// 429, or a budget of our own is used up.
        case quota
        /// The response cannot be used.
        case decode
        /// A key is missing or was refused.
        case credentials
        /// The caller does not want the response any more: nothing to show or to count.
        case cancelled
    }

    package var kind: Kind
    /// One sentence for a person: sanitized, at most 500 characters, without the query part of any URL.
    package var message: String
    /// How long the upstream wants no request: 0...24 h.
    package var retryAfter: Duration?
    /// Whether this upstream is known to recover from a status that is not retried elsewhere, or norrisd had no memory
    /// for its answer.
    var isTransient = false

    package init(_ kind: Kind, _ message: String, retryAfter: Duration? = nil) {
        self.kind = kind
        self.message = Self.cut(message, to: 500)
        self.retryAfter = retryAfter
    }

    /// Whether the same request may succeed soon: nothing arrived, or a status that passes (408, 425, 429, any 5xx,
    /// or one that ``isTransient``).
    package var isRetryable: Bool {
        switch kind {
        case .offline, .timeout, .quota: true
        case .http(let status): isTransient || status == 408 || status == 425 || (500...599).contains(status)
        case .decode: isTransient
        case .credentials, .cancelled: false
        }
    }

    package var description: String { message }

    /// One line of at most so many code points, safe for a message.
    static func cut(_ text: String, to length: Int) -> String { prefix(of: sanitizedLine(text), codePoints: length) }

    // MARK: Without a connection, or with one that breaks

    static let cancelled = UpstreamError(.cancelled, "The request was cancelled.")

    /// The whole response did not come in time.
    static func late(_ url: HTTPURL, _ timeout: Duration) -> UpstreamError {
        UpstreamError(.timeout, "\(url.authority) did not answer completely within \(timeout.text).")
    }

    /// The response ended before it was whole.
    static func early(_ url: HTTPURL) -> UpstreamError {
        UpstreamError(.offline, "\(url.authority) ended its answer early.")
    }

    /// Other answers have taken the memory that norrisd has for all.
    static func busy(_ name: String) -> UpstreamError {
        let fault = "answered while other answers took all memory that norrisd has for them"
        var error = name.isEmpty ? .unusable(fault) : UpstreamError(.decode, "\(name) \(fault).")
        error.isTransient = true
        return error
    }

    static let refusedByProxy = UpstreamError(
        .http(status: 407), "The proxy needs a user name and password; set them in http.proxy.")

    /// What libcurl's codes mean for a person (libcurl-errors(3)).
    ///
    /// - Parameter text: libcurl's own message, for where one code has several meanings.
    init(_ code: CURLcode, of transfer: Transfer, saying text: String) {
        let (url, settings) = (transfer.fetch.url, transfer.fetch.settings)
        let host = url.authority
        switch code {
        case CURLE_OPERATION_TIMEDOUT:
            // All other times are measured by the fetch thread.
            self.init(.timeout, "No connection to \(host) within \(settings.connectTimeout.text).")
        case CURLE_URL_MALFORMAT:
            self.init(.decode, "\(url.hostAndPath) is not a usable URL; correct the configured address.")
        case CURLE_BAD_CONTENT_ENCODING:
            self.init(.decode, "\(url.hostAndPath) answered with compressed content that is damaged.")
        // A status line of HTTP/0.9 or of a version that does not exist; broken header fields.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY,
            CURLE_RECV_ERROR where text.contains("chunked-encoding"):
            self.init(.decode, "\(host) answered with something that is not HTTP.")
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
                // With a proxy nothing else is connected to.
                let way = settings.proxy.map { " through the proxy \($0)" } ?? ""
                self.init(.offline, "\(host) cannot be reached\(way): \(Self.cause(code, transfer.easy)).")
            }
        }
    }

    /// Why there is no connection.
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

    /// Why TLS failed; nil if the code is not about TLS.
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
        case CURLE_SSL_CONNECT_ERROR where text.contains("wrong version number"): return "it does not speak TLS there"
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR:
            return "TLS failed"
        default: return nil
        }
    }

    // MARK: Responses

    /// A response that cannot be decoded; ``Fetcher`` puts the upstream's name before it.
    ///
    /// - Parameter fault: the end of a sentence, without the full stop.
    static func unusable(_ fault: String) -> UpstreamError { UpstreamError(.decode, fault) }

    static func tooLarge(_ url: HTTPURL, _ maximumBody: Int) -> UpstreamError {
        let limit = "more than \(maximumBody) bytes; raise http.max_body if that is right."
        return UpstreamError(.decode, "\(url.hostAndPath) answered with \(limit)")
    }

    /// A response whose status is neither 200 nor 304.
    ///
    /// - Parameter body: its beginning at least; may be empty, HTML, anything.
    init(status: Int, from url: HTTPURL?, headers: HTTPHeaderFields, body: [UInt8], now: Timestamp) {
        var message = "HTTP \(status) from \(url?.hostAndPath ?? "the upstream")"
        if let reason = Self.message(in: body) { message += ": \(reason)" }
        if message.last != "." { message += "." }
        let retryAfter = headers["retry-after"].flatMap { NorrisUpstream.retryAfter($0, now: now) }
        if status == 429 {
            self.init(.quota, message, retryAfter: retryAfter ?? rateLimitReset(headers, now: now))
        } else {
            self.init(.http(status: status), message, retryAfter: retryAfter)
        }
    }

    /// The upstream's own message: a `message`, a `msg` under `meta` (Giphy), or an `error` (Mastodon).
    private static func message(in body: [UInt8]) -> String? {
        guard let object = JSONItem(item: body[...]) else { return nil }
        let texts = [
            object.object("meta")?.text("msg", .line), object.text("message", .line), object.text("error", .line),
        ]
        return texts.lazy.compactMap { $0.map { cut($0, to: 200) } }.first { !$0.isEmpty }
    }
}

extension Duration {
    /// For a message: `10 s`, `250 ms`.
    var text: String {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }
}
