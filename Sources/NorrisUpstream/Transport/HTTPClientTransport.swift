import AsyncHTTPClient
package import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
package import NorrisProtocol

/// Asks over the network: HTTP/1.1, with redirects, limits and errors of our own.
///
/// Every transport must be shut down.
package final class HTTPClientTransport: HTTPTransport {
    /// One thread for all transports, which never ends: a name that is still being resolved when its request has been
    /// given up comes back to it.
    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    /// As much of an error's body as is read for a message in it.
    private static let maximumErrorBody = 16 * 1024

    private let settings: HTTPSettings
    private let logger: Logger
    private let now: @Sendable () -> Timestamp
    private let peers: PeerCheck
    /// A proxy's address tells nothing of where it connects to, so names are all there is to check.
    private let checksNames: Bool
    private let baseClient: HTTPClient
    private let redirectClient: HTTPClient

    /// - Parameters:
    ///   - baseURL: of the upstream, as configured: whether it is `http` or `https` and, behind a proxy, private.
    ///   - now: what dates in header fields are compared with.
    package convenience init(
        baseURL: String,
        settings: HTTPSettings,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.init(baseURL: baseURL, settings: settings, logger: logger, now: now, assumingBaseIsPrivate: nil)
    }

    /// - Parameter assumingBaseIsPrivate: in place of a look at the peer; for tests, which have no public address.
    init(
        baseURL: String,
        settings: HTTPSettings,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp,
        assumingBaseIsPrivate: Bool?
    ) {
        self.settings = settings
        self.logger = logger
        self.now = now
        let base = HTTPURL(baseURL)
        let usesProxy = settings.proxy != nil
        checksNames = usesProxy && base?.hasPrivateHost != true
        let peers = PeerCheck(assumingBaseIsPrivate: assumingBaseIsPrivate ?? (usesProxy ? true : nil))
        self.peers = peers
        let speaksPlainProxy = usesProxy && base?.isSecure == false
        baseClient = HTTPClient(
            eventLoopGroup: Self.loops,
            configuration: .upstream(settings, tunnels: !speaksPlainProxy) { channel in
                peers.note(channel)
                if speaksPlainProxy { try AbsoluteFormHandler.add(to: channel) }
                return channel.eventLoop.makeSucceededVoidFuture()
            }
        )
        redirectClient = HTTPClient(
            eventLoopGroup: Self.loops,
            configuration: .upstream(settings, tunnels: true, peers.admit)
        )
    }

    /// Ends all connections and calls off the requests under way.
    ///
    /// Connections that are still being made end with that attempt; nobody has to wait for them.
    package func shutdown() {
        // Each fails only if it was shut down before.
        baseClient.shutdown { _ in }
        redirectClient.shutdown { _ in }
    }

    package func send(_ request: HTTPRequest) async throws(UpstreamError) -> HTTPResponse {
        guard var url = HTTPURL(request.url) else {
            throw UpstreamError(.decode, "The address is no http or https URL; correct the configured address.")
        }
        let deadline = ContinuousClock.now + request.timeout
        var policy = RedirectPolicy()
        var redirect: (from: HTTPURL, status: Int)?
        while true {
            let response = try await head(url, request, deadline, redirect)
            let status = Int(response.status.code)
            let headers = HTTPHeaderFields(response.headers.map { (name: $0.name, value: $0.value) })
            let target = try policy.target(
                of: url, status: status, location: headers["location"], mayBePrivate: !checksNames
            )
            if let target {
                redirect = (url, status)
                url = target
                continue
            }
            return try await answer(url, request, deadline, status, headers, response.body)
        }
    }

    /// What is made of an answer that is no redirect.
    private func answer(
        _ url: HTTPURL, _ request: HTTPRequest, _ deadline: ContinuousClock.Instant, _ status: Int,
        _ headers: HTTPHeaderFields, _ body: HTTPClientResponse.Body
    ) async throws(UpstreamError) -> HTTPResponse {
        // Of what was asked: where a redirect leads is an upstream's text, and it may have put a key into it.
        let place = HTTPURL(request.url)?.place ?? ""
        logger.debug("http.answer", metadata: ["http.place": "\(place)", "http.status": "\(status)"])
        switch status {
        case 304:
            guard request.isConditional else {
                throw UpstreamError(.decode, "\(url.place) answered 304, but was not asked for a change.")
            }
            return HTTPResponse(status: status, headers: headers)
        case 200:
            try checkEncoding(headers, url)
            if let length = headers["content-length"].flatMap({ Int($0) }), length > settings.maximumBody {
                throw .tooLarge(url, settings.maximumBody)
            }
            let bytes = try await read(body, of: url, request, deadline, upTo: settings.maximumBody)
            return HTTPResponse(status: status, headers: headers, body: bytes, url: url)
        case 407 where settings.proxy != nil && !url.isSecure:
            throw .refusedByProxy
        default:
            // The status is what matters: a body that breaks off or is too long only costs the message in it.
            let bytes = try? await read(body, of: url, request, deadline, upTo: Self.maximumErrorBody)
            if Task.isCancelled { throw .cancelled }
            throw UpstreamError(status: status, from: url, headers: headers, body: bytes ?? [], now: now())
        }
    }

    /// The answer without its body.
    private func head(
        _ url: HTTPURL, _ request: HTTPRequest, _ deadline: ContinuousClock.Instant,
        _ redirect: (from: HTTPURL, status: Int)?
    ) async throws(UpstreamError) -> HTTPClientResponse {
        let client = redirect == nil ? baseClient : redirectClient
        do {
            return try await client.execute(
                clientRequest(url, request), deadline: .now() + TimeAmount(max(deadline - .now, .zero))
            )
        } catch is PeerCheck.PrivatePeer {
            // Only connections to where a redirect leads are refused.
            throw RedirectPolicy.refusalOfPrivate(url, from: redirect!.from, redirect!.status)
        } catch {
            throw failure(error, url, request, deadline)
        }
    }

    private func clientRequest(_ url: HTTPURL, _ request: HTTPRequest) -> HTTPClientRequest {
        var result = HTTPClientRequest(url: url.description)
        result.headers = [
            "Host": url.authority, "User-Agent": settings.userAgent, "Accept-Encoding": "gzip",
        ]
        for (name, value) in request.headers {
            result.headers.replaceOrAdd(name: name, value: value)
        }
        if !url.isSecure, let proxy = settings.proxy {
            result.url = "http://\(proxy)\(url.target)"
            if let authorization = proxy.authorization {
                result.headers.add(name: "Proxy-Authorization", value: authorization.headerValue)
            }
        }
        return result
    }

    /// Refuses a coding that was not asked for; gzip and deflate are inflated on the way.
    private func checkEncoding(_ headers: HTTPHeaderFields, _ url: HTTPURL) throws(UpstreamError) {
        let coding = headers["content-encoding"]?.lowercased() ?? "identity"
        guard ["gzip", "deflate", "identity", ""].contains(coding) else {
            let name = UpstreamError.cut(coding, to: 40)
            throw UpstreamError(.decode, "\(url.place) answered in the coding \(name), which was not asked for.")
        }
    }

    private func read(
        _ body: HTTPClientResponse.Body, of url: HTTPURL, _ request: HTTPRequest, _ deadline: ContinuousClock.Instant,
        upTo maximum: Int
    ) async throws(UpstreamError) -> [UInt8] {
        try await withDeadline(deadline, orThrow: .late(url, request.timeout)) {
            () async throws(UpstreamError) in
            do {
                var bytes: [UInt8] = []
                for try await chunk in body {
                    guard bytes.count + chunk.readableBytes <= maximum else {
                        throw UpstreamError.tooLarge(url, maximum)
                    }
                    bytes.append(contentsOf: chunk.readableBytesView)
                }
                // A body that is cancelled may end as if it were whole.
                try Task.checkCancellation()
                return bytes
            } catch {
                throw self.failure(error, url, request, deadline)
            }
        }
    }

    private func failure(
        _ error: any Error, _ url: HTTPURL, _ request: HTTPRequest, _ deadline: ContinuousClock.Instant
    ) -> UpstreamError {
        let failure = UpstreamError(error, asking: url, within: request.timeout, settings)
        // The client ends a request that is too late in the same way as one that nobody wants.
        if failure.kind == .cancelled, !Task.isCancelled, deadline <= .now { return .late(url, request.timeout) }
        return failure
    }
}

extension HTTPRequest {
    /// Whether 304 is an answer to it.
    fileprivate var isConditional: Bool {
        headers.contains { ["if-none-match", "if-modified-since"].contains($0.name.lowercased()) }
    }
}
