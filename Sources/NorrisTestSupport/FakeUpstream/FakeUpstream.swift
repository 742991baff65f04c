import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// An upstream of a test's own on this machine: answers like api.chucknorris.io and api.giphy.com, or as badly as it is
/// told to.
///
/// Start it, ask its `baseURL`, look at its `requests`, `stop()` it. It is a proxy as well: it answers a request for a
/// whole URL as if it were the upstream of that name, and after a CONNECT it goes on as that upstream, with TLS.
package final class FakeUpstream: Sendable {
    /// Where TLS begins.
    package enum Security: Sendable {
        case none
        case tls(FakeCertificate)
        /// Once a client has asked for a tunnel.
        case tlsAfterConnect(FakeCertificate)
    }

    struct State {
        var content: Content
        var requests: [Request] = []
        var faults: [String: Fault] = [:]
        var fault: Fault?
        /// What `Proxy-Authorization` must be; nil if it does not matter.
        var authorization: String?
        var connections: [ObjectIdentifier: any Channel] = [:]
        var listener: (any Channel)?
        /// What answers the requests that came while answers were held; nil where they are not.
        var held: [@Sendable () -> Void]?
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let loops: MultiThreadedEventLoopGroup
    private let host: String
    private let reservation: PortReservation
    private let tls: NIOSSLContext?
    private let tunnelTLS: NIOSSLContext?
    let state: Mutex<State>

    /// - Parameters:
    ///   - prefix: a path before those of the API, such as `/mirror`.
    ///   - gzip: whether answers are compressed for clients that accept it.
    ///   - host: below 127. One of its own for an upstream that will `close()`: while it is away, whoever listens on any
    ///     port of the same address could get its own.
    package static func start(
        jokes: [FakeJoke] = jokes(count: 40), prefix: String = "", security: Security = .none, gzip: Bool = false,
        host: String = "127.0.0.1"
    ) async throws -> FakeUpstream {
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            let upstream: FakeUpstream
            let content = Content(jokes: jokes, prefix: prefix, isCompressed: gzip)
            switch security {
            case .none:
                upstream = FakeUpstream(content, host: host, loops: loops)
            case .tls(let certificate):
                upstream = FakeUpstream(content, host: host, loops: loops, tls: try context(certificate))
            case .tlsAfterConnect(let certificate):
                upstream = FakeUpstream(content, host: host, loops: loops, tunnelTLS: try context(certificate))
            }
            try await upstream.listen()
            return upstream
        } catch {
            try? await loops.shutdownGracefully()
            throw error
        }
    }

    private init(
        _ content: Content, host: String, loops: MultiThreadedEventLoopGroup, tls: NIOSSLContext? = nil,
        tunnelTLS: NIOSSLContext? = nil
    ) {
        self.loops = loops
        self.host = host
        reservation = PortReservation(host: host)
        self.tls = tls
        self.tunnelTLS = tunnelTLS
        state = Mutex(State(content: content))
    }

    private func listen() async throws {
        let listener = try await ServerBootstrap(group: loops)
            .childChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
                        _ = fcntl($0, F_SETFD, FD_CLOEXEC)
                    }
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    try pipeline.addHandler(FakeUpstreamHandler(self, tunnelling: tunnelTLS))
                }
            }
            .withBoundSocket(reservation.socket()).get()
        state.withLock { $0.listener = listener }
    }

    private static func context(_ certificate: FakeCertificate) throws -> NIOSSLContext {
        let chain = try NIOSSLCertificate.fromPEMFile(certificate.path).map(NIOSSLCertificateSource.certificate)
        let key = try NIOSSLPrivateKey(file: certificate.keyPath, format: .pem)
        return try NIOSSLContext(
            configuration: .makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(key))
        )
    }

    /// With the prefix, without a slash at its end.
    package var baseURL: String { baseURL(host: host) }

    package var port: Int { reservation.port }

    package func baseURL(host: String) -> String {
        "\(tls == nil ? "http" : "https")://\(host):\(port)\(state.withLock { $0.content.prefix })"
    }

    /// Every request so far, CONNECT included.
    package var requests: [Request] { state.withLock { $0.requests } }

    /// Waits until so many requests have arrived since the start.
    package func waitForRequests(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.requests.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// From the next request on.
    ///
    /// - Parameter path: only for this one, without the prefix; nil for all that have none of their own.
    package func setFault(_ fault: Fault?, path: String? = nil) {
        state.withLock { state in
            if let path {
                state.faults[state.content.prefix + path] = fault
            } else {
                state.fault = fault
            }
        }
    }

    /// From the next request on there is no answer before `release()`.
    package func hold() {
        state.withLock { $0.held = [] }
    }

    /// Answers what was asked meanwhile, as things are now.
    package func release() {
        let held = state.withLock { state in
            defer { state.held = nil }
            return state.held ?? []
        }
        for answer in held { answer() }
    }

    /// - Parameter fault: one that begins with them; nil leaves what there is.
    package func setJokes(_ jokes: [FakeJoke], fault: Fault? = nil) {
        state.withLock { state in
            state.content.jokes = jokes
            if let fault { state.fault = fault }
        }
    }

    /// From the next request on.
    ///
    /// - Parameter path: without the prefix, with its slash.
    package func setDocument(_ path: String, contentType: String, body: [UInt8]) {
        state.withLock { $0.content.documents[path] = Document(contentType: contentType, body: body) }
    }

    /// Further header fields of every right answer.
    package func setHeaders(_ headers: [(String, String)]) {
        state.withLock { $0.content.headers = headers }
    }

    /// As a proxy, refuses whoever does not send this.
    package func requireProxyAuthorization(_ value: String) {
        state.withLock { $0.authorization = value }
    }

    /// From now on connections are refused; those that are open end.
    package func close() async throws {
        let (listener, connections) = state.withLock { state in
            defer { state.listener = nil }
            return (state.listener, state.connections.values)
        }
        try await listener?.close()
        for connection in connections {
            // It may have ended by itself.
            try? await connection.close()
        }
    }

    /// Listens again, on the same port.
    package func reopen() async throws {
        try await listen()
    }

    package func stop() async {
        // A group shuts down once; a second time is no matter.
        try? await loops.shutdownGracefully()
    }
}
