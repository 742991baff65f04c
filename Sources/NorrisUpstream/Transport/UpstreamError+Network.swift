import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL

extension UpstreamError {
    /// What the client's own errors mean for a person.
    ///
    /// - Parameter whole: the request's timeout.
    init(_ error: any Error, asking url: HTTPURL, within whole: Duration, _ settings: HTTPSettings) {
        let host = url.authority
        switch error {
        case let error as UpstreamError:
            self = error
        case is CancellationError:
            self = .cancelled
        case let error as HTTPClientError:
            switch error {
            case .connectTimeout, .tlsHandshakeTimeout, .httpProxyHandshakeTimeout, .getConnectionFromPoolTimeout:
                self.init(.timeout, "No connection to \(host) within \(settings.connectTimeout.words).")
            case .readTimeout:
                self.init(.timeout, "\(host) said nothing for \(settings.timeout.words).")
            case .deadlineExceeded:
                self = .late(url, whole)
            case .cancelled, .alreadyShutdown:
                self = .cancelled
            case .proxyAuthenticationRequired:
                self = .refusedByProxy
            case .invalidProxyResponse:
                self.init(.offline, "The proxy makes no connection to \(host).")
            case .invalidURL, .emptyHost, .emptyScheme:
                self.init(.decode, "\(url.place) is no URL that can be asked; correct the configured address.")
            default:
                self.init(.offline, "\(host) broke off its answer.")
            }
        case NIOHTTPDecompression.DecompressionError.limit:
            self = .tooLarge(url, settings.maximumBody)
        case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError:
            self.init(.decode, "\(url.place) answered with compressed content that is damaged.")
        case HTTPParserError.invalidEOFState:
            self.init(.offline, "\(host) broke off its answer.")
        case is HTTPParserError:
            self.init(.decode, "\(host) answered with something that is not HTTP.")
        default:
            if let cause = Self.cause(inTLS: error) {
                self.init(.offline, "\(host) cannot be reached: \(cause).")
            } else if Self.isConnectTimeout(error) {
                self.init(.timeout, "No connection to \(host) within \(settings.connectTimeout.words).")
            } else if let proxy = settings.proxy {
                // Nothing but the proxy is connected to.
                self.init(.offline, "\(host) cannot be reached through the proxy \(proxy): \(Self.cause(error)).")
            } else {
                self.init(.offline, "\(host) cannot be reached: \(Self.cause(error)).")
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

    private static func isConnectTimeout(_ error: any Error) -> Bool {
        let last = (error as? NIOConnectionError)?.connectionErrors.last?.error ?? error
        return if case ChannelError.connectTimeout = last { true } else { false }
    }

    /// Why there is no connection, in words.
    private static func cause(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            guard let last = error.connectionErrors.last else { return "the name cannot be resolved" }
            return cause(last.error)
        case let error as IOError:
            switch error.errnoCode {
            case ECONNREFUSED: return "connection refused"
            case ECONNRESET, EPIPE: return "connection reset"
            case ENETUNREACH, EHOSTUNREACH: return "no route"
            default: return String(cString: strerror(error.errnoCode))
            }
        case is SocketAddressError:
            return "the name cannot be resolved"
        default:
            return "the connection broke"
        }
    }

    /// Why TLS failed, in words; nil if it is not that.
    private static func cause(inTLS error: any Error) -> String? {
        switch error {
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            return "the certificate is for another name"
        case NIOSSLError.handshakeFailed(let reason):
            // The library says the reason only in its text, which is OpenSSL's name for it.
            let text = String(describing: reason)
            if text.contains("CERTIFICATE_VERIFY_FAILED") { return "the certificate is not trusted" }
            if text.contains("WRONG_VERSION_NUMBER") { return "it does not speak TLS there" }
            return "TLS failed"
        case NIOSSLError.failedToLoadCertificate, NIOSSLError.noSuchFilesystemObject:
            return "the file of trusted certificates cannot be read; check SSL_CERT_FILE"
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
            return "TLS failed"
        default:
            return nil
        }
    }
}
