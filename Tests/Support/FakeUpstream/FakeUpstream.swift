import Synchronization

/// A fake upstream on this machine that answers like api.chucknorris.io and api.giphy.com, or with a fault.
///
/// A test starts the upstream, reads its `baseURL` and `requests`, and calls `stop()`. The upstream is also a proxy: it
/// answers a request for an absolute URL as the upstream of that name, and after a CONNECT continues as that upstream
/// with TLS. The server uses blocking sockets; a `TLSFront` adds TLS.
package final class FakeUpstream: Sendable {
    /// When TLS begins.
    package enum Security: Sendable {
        case none
        case tls(FakeCertificate)
        /// After a client has requested a tunnel.
        case tlsAfterConnect(FakeCertificate)
    }

    let server: FakeUpstreamServer
    private let reservation: PortReservation
    private let front: Mutex<TLSFront?>
    private let isTunnel: Bool

    /// - Parameters:
    ///   - prefix: a path before the paths of the API, such as `/mirror`.
    ///   - gzip: whether answers are compressed for clients that accept it.
    ///   - host: an address in 127.0.0.0/8. A separate address for an upstream that will `close()`, because another
    ///     server on the same address could otherwise get its port in the meantime.
    package static func start(
        jokes: [FakeJoke] = jokes(count: 40), prefix: String = "", security: Security = .none, gzip: Bool = false,
        host: String = "127.0.0.1"
    ) async throws -> FakeUpstream {
        let reservation = PortReservation(host: host)
        let content = Content(jokes: jokes, prefix: prefix, isCompressed: gzip)
        var (front, isTunnel) = (TLSFront?.none, false)
        switch security {
        case .none: break
        case .tls(let certificate), .tlsAfterConnect(let certificate):
            front = try await TLSFront.start(certificate, to: reservation.port, host: host)
            if case .tlsAfterConnect = security { isTunnel = true }
        }
        let upstream = FakeUpstream(content, reservation, front, isTunnel: isTunnel)
        upstream.reopen()
        return upstream
    }

    private init(_ content: Content, _ reservation: PortReservation, _ front: TLSFront?, isTunnel: Bool) {
        server = FakeUpstreamServer(content)
        self.reservation = reservation
        self.front = Mutex(front)
        self.isTunnel = isTunnel
    }

    deinit {
        server.close()
        server.release()
    }

    /// With the prefix, without a final slash.
    package var baseURL: String { baseURL(host: reservation.host) }

    /// The port for clients; with TLS the port of the `TLSFront`.
    package var port: Int { isTunnel ? reservation.port : frontPort ?? reservation.port }

    private var frontPort: Int? { front.withLock { $0?.port } }

    package func baseURL(host: String) -> String {
        let isSecure = frontPort != nil && !isTunnel
        return "\(isSecure ? "https" : "http")://\(host):\(port)\(server.state.withLock { $0.content.prefix })"
    }

    /// All requests so far, including CONNECT.
    package var requests: [Request] { server.state.withLock { $0.requests } }

    /// Waits until a number of requests have arrived since the start.
    package func waitForRequests(_ count: Int) async {
        await eventually { server.state.withLock { $0.requests.count } >= count }
    }

    /// Sets a fault from the next request on.
    ///
    /// - Parameter path: limits the fault to a path without the prefix; nil for all paths without a separate fault. The
    ///   path of a CONNECT is its host and port, and it has only separate faults.
    package func setFault(_ fault: Fault?, path: String? = nil) {
        server.state.withLock { state in
            if let path {
                state.faults[state.content.prefix + path] = fault
            } else {
                state.fault = fault
            }
        }
    }

    /// Sets a fault of a cache before the upstream, from the next request on. Requests past the caches do not meet it.
    package func setCachedFault(_ fault: Fault?) { server.state.withLock { $0.cachedFault = fault } }

    /// Delays answers from the next request on until `release()`.
    package func hold() { server.state.withLock { $0.held = [] } }

    /// Answers the delayed requests with the current content.
    package func release() { server.release() }

    /// - Parameter fault: a fault that begins with the new jokes; nil keeps the current fault.
    package func setJokes(_ jokes: [FakeJoke], fault: Fault? = nil) {
        server.state.withLock { state in
            state.content.jokes = jokes
            if let fault { state.fault = fault }
        }
    }

    /// Adds a document from the next request on.
    ///
    /// - Parameter path: without the prefix, with the first slash.
    package func setDocument(_ path: String, contentType: String, body: [UInt8]) {
        server.state.withLock { $0.content.documents[path] = (contentType, body) }
    }

    /// Additional header fields of every answer without a fault.
    package func setHeaders(_ headers: [(String, String)]) { server.state.withLock { $0.content.headers = headers } }

    /// As a proxy, refuses clients without this header.
    package func requireProxyAuthorization(_ value: String) { server.state.withLock { $0.authorization = value } }

    /// Refuses connections from now on, also behind a `TLSFront`, and ends open connections.
    package func close() { server.close() }

    /// Listens again, on the same port.
    package func reopen() {
        var tunnel: (@Sendable () -> CInt?)?
        if isTunnel, let frontPort {
            tunnel = { [host = reservation.host] in PortReservation.connected(host, port: frontPort) }
        }
        server.listen(on: reservation.socket(), tunnel: tunnel)
    }

    /// Ends all connections and waits for their threads.
    package func stop() async {
        server.close()
        server.release()
        front.withLock { $0?.stop() }
        await server.waitForThreads()
    }
}
