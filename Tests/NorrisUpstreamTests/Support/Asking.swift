import Logging
import NorrisProtocol
import NorrisTestSupport

@testable import NorrisUpstream

/// A fake upstream and a transport that asks it, both ended with the test.
struct Asking {
    /// What `Retry-After` and the like are compared with in these tests: `Sun, 06 Nov 1994 08:49:37 GMT`.
    static let now = Timestamp(seconds: 784_111_777)

    typealias NetworkTransport = CurlTransport

    let upstream: FakeUpstream
    let transport: NetworkTransport

    /// What no request needs, however busy the machine is.
    static let longEnough = Duration.seconds(900)

    static let settings = HTTPSettings(timeout: Asking.longEnough, userAgent: "norrisd/test")

    /// - Parameters:
    ///   - baseURL: of the upstream by default.
    ///   - configure: changes the settings.
    static func run(
        _ upstream: FakeUpstream,
        baseURL: String? = nil,
        assumingBaseIsPrivate: Bool? = nil,
        configure: (inout HTTPSettings) -> Void = { _ in },
        _ body: (Asking) async throws -> Void
    ) async throws {
        var settings = settings
        configure(&settings)
        let transport = networkTransport(
            baseURL ?? upstream.baseURL, settings, assumingBaseIsPrivate: assumingBaseIsPrivate
        )
        do {
            try await body(Asking(upstream: upstream, transport: transport))
        } catch {
            transport.shutdown()
            await upstream.stop()
            throw error
        }
        transport.shutdown()
        await upstream.stop()
    }

    static func networkTransport(
        _ baseURL: String, _ settings: HTTPSettings, logger: Logger = quietLogger, assumingBaseIsPrivate: Bool? = nil
    ) -> NetworkTransport {
        NetworkTransport(
            baseURL: baseURL, settings: settings, logger: logger, now: { now },
            assumingBaseIsPrivate: assumingBaseIsPrivate
        )
    }

    static let quietLogger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    static let search = "/jokes/search?query=chuck"

    /// Sends a request to the upstream.
    func send(
        _ path: String = search, headers: [(name: String, value: String)] = [], timeout: Duration = Asking.longEnough
    ) async throws(UpstreamError) -> HTTPResponse {
        try await transport.send(HTTPRequest(url: upstream.baseURL + path, headers: headers, timeout: timeout))
    }

    /// How a request fails; nil if it does not.
    func failure(
        _ path: String = search, headers: [(name: String, value: String)] = [], timeout: Duration = Asking.longEnough
    ) async -> UpstreamError? {
        do throws(UpstreamError) {
            _ = try await send(path, headers: headers, timeout: timeout)
            return nil
        } catch {
            return error
        }
    }

    /// How a request fails while the upstream has a fault.
    func failure(with fault: FakeUpstream.Fault, timeout: Duration = Asking.longEnough) async -> UpstreamError? {
        upstream.setFault(fault)
        return await failure(timeout: timeout)
    }

    func chucknorris() -> Chucknorris {
        Chucknorris(
            baseURL: upstream.baseURL, transport: transport, timeout: Asking.longEnough, now: { Asking.now }
        )
    }
}

/// An answer that needs no network.
struct FixedTransport: HTTPTransport {
    let response: HTTPResponse

    init(_ body: String, headers: HTTPHeaderFields = [("Content-Type", "application/json")], status: Int = 200) {
        response = HTTPResponse(status: status, headers: headers, body: Array(body.utf8))
    }

    func send(_ request: HTTPRequest) async throws(UpstreamError) -> HTTPResponse { response }
}
