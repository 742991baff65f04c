import CCurl
import Glibc

extension UpstreamError {
    /// What libcurl's codes mean for a person (libcurl-errors(3)).
    ///
    /// - Parameter text: what libcurl says itself, for where one code has several meanings.
    init(_ code: CURLcode, of transfer: Transfer, saying text: String) {
        let (url, settings) = (transfer.fetch.url, transfer.fetch.settings)
        let host = url.authority
        switch code {
        case CURLE_OPERATION_TIMEDOUT:
            // All other times are measured by the fetch thread.
            self.init(.timeout, "No connection to \(host) within \(settings.connectTimeout.words).")
        case CURLE_URL_MALFORMAT:
            self.init(.decode, "\(url.place) is no URL that can be asked; correct the configured address.")
        case CURLE_BAD_CONTENT_ENCODING:
            self.init(.decode, "\(url.place) answered with compressed content that is damaged.")
        // A status line of HTTP/0.9 or of a version that does not exist; fields that are none.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY:
            self.init(.decode, "\(host) answered with something that is not HTTP.")
        case CURLE_RECV_ERROR where text.contains("chunked-encoding"):
            self.init(.decode, "\(host) answered with something that is not HTTP.")
        case _ where transfer.isConnected:
            self.init(.offline, "\(host) broke off its answer.")
        default:
            let proxyStatus = curl_get_long(transfer.easy, CURLINFO_HTTP_CONNECTCODE)
            if proxyStatus == 407 {
                self = .refusedByProxy
            } else if proxyStatus != 0 || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING {
                self.init(.offline, "The proxy makes no connection to \(host).")
            } else if let cause = Self.cause(inTLS: code, transfer.easy, text) {
                self.init(.offline, "\(host) cannot be reached: \(cause).")
            } else {
                // With a proxy nothing else is connected to.
                let way = settings.proxy.map { " through the proxy \($0)" } ?? ""
                self.init(.offline, "\(host) cannot be reached\(way): \(Self.cause(code, transfer.easy)).")
            }
        }
    }

    /// The whole did not come in time.
    static func late(_ url: HTTPURL, _ whole: Duration) -> UpstreamError {
        UpstreamError(.timeout, "\(url.authority) did not answer whole within \(whole.words).")
    }

    static let refusedByProxy = UpstreamError(
        .http(status: 407), "The proxy wants a user and a password; put them into http.proxy."
    )

    static func tooLarge(_ url: HTTPURL, _ maximumBody: Int) -> UpstreamError {
        UpstreamError(
            .decode, "\(url.place) answered with more than \(maximumBody) bytes; raise http.max_body if that is right."
        )
    }

    /// Why there is no connection, in words.
    private static func cause(_ code: CURLcode, _ easy: UnsafeMutableRawPointer) -> String {
        if code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY {
            return "the name cannot be resolved"
        }
        switch CInt(truncatingIfNeeded: curl_get_long(easy, CURLINFO_OS_ERRNO)) {
        case 0: return "the connection broke"
        case ECONNREFUSED: return "connection refused"
        case ECONNRESET, EPIPE: return "connection reset"
        case ENETUNREACH, EHOSTUNREACH: return "no route"
        case let code: return String(cString: strerror(code))
        }
    }

    /// Why TLS failed, in words; nil if it is not that.
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
        case CURLE_SSL_CACERT_BADFILE:
            return "the file of trusted certificates cannot be read; check SSL_CERT_FILE"
        case CURLE_SSL_CONNECT_ERROR where text.contains("wrong version number"):
            return "it does not speak TLS there"
        case CURLE_SSL_CONNECT_ERROR where text.contains("reset by peer"):
            return "connection reset"
        case CURLE_SSL_CONNECT_ERROR where text.contains("SYSCALL") || text.contains("unexpected eof"):
            return "the connection broke"
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR:
            return "TLS failed"
        default:
            return nil
        }
    }
}
