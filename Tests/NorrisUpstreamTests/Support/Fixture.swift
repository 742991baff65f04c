import Logging
import NorrisProtocol
import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisUpstream

/// A fake upstream and a transport that fetches from it, both ended with the test.
struct Fixture {
    /// What `Retry-After` and the like are compared with in these tests: `Sun, 06 Nov 1994 08:49:37 GMT`.
    static let now = Timestamp(seconds: 784_111_777)
    /// What no request needs, however busy the machine is.
    static let longEnough = Duration.seconds(900)
    static let settings = HTTPSettings(timeout: longEnough, userAgent: "norrisd/test")
    static let quietLogger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    static let search = "/jokes/search?query=chuck"

    let upstream: FakeUpstream
    let transport: CurlTransport

    /// - Parameters:
    ///   - baseURL: of the upstream by default.
    ///   - configure: changes the settings.
    static func run(
        _ upstream: FakeUpstream, baseURL: String? = nil, baseIsPrivate: Bool? = nil, logger: Logger = quietLogger,
        configure: (inout HTTPSettings) -> Void = { _ in }, _ body: (Fixture) async throws -> Void
    ) async throws {
        var settings = settings
        configure(&settings)
        let transport = CurlTransport(
            baseURL: baseURL ?? upstream.baseURL, settings: settings, logger: logger, baseIsPrivate: baseIsPrivate,
            now: { now }
        )
        do {
            try await body(Fixture(upstream: upstream, transport: transport))
        } catch {
            await upstream.stop()
            throw error
        }
        await upstream.stop()
    }

    /// Sends a request to a path of the upstream, or to another URL.
    func send(
        _ path: String = search, url: String? = nil, headers: [(name: String, value: String)] = [],
        timeout: Duration = longEnough
    ) async throws(UpstreamError) -> HTTPResponse {
        try await transport.send(HTTPRequest(url: url ?? upstream.baseURL + path, headers: headers, timeout: timeout))
    }

    /// The error of a request; nil if it succeeds.
    func failure(_ path: String = search, url: String? = nil, timeout: Duration = longEnough) async -> UpstreamError? {
        await NorrisUpstreamTests.failure { _ = try await send(path, url: url, timeout: timeout) }
    }

    /// The error of a request while the upstream has a fault.
    func failure(with fault: FakeUpstream.Fault?, timeout: Duration = longEnough) async -> UpstreamError? {
        upstream.setFault(fault)
        return await failure(timeout: timeout)
    }

    func chucknorris(_ suffix: String = "") -> Chucknorris {
        Chucknorris(baseURL: upstream.baseURL + suffix, transport: transport, timeout: Self.longEnough)
    }

    // MARK: Giphy

    /// As long as a real one, and of its letters.
    static let key = "Qw3rTyUi0pAsDfGhJkLzXcVbNm1234567"

    func giphy(_ suffix: String = "", key: String = key, rating: String = "g") -> Giphy {
        Giphy(
            baseURL: upstream.baseURL + suffix, key: key, rating: rating, transport: transport, timeout: Self.longEnough
        )
    }

    /// Giphy's API with one body as the response to everything; the status is 200.
    static func giphy(returning body: String, key: String = key) -> Giphy {
        Giphy(
            baseURL: "https://api.example", key: key, rating: "g", transport: FixedTransport(body), timeout: .seconds(1)
        )
    }

    /// A response of Giphy with an id and this as its data.
    static func envelope(_ data: String, pagination: String? = nil) -> String {
        let pagination = pagination.map { #""pagination":\#($0),"# } ?? ""
        return #"{"data":\#(data),\#(pagination)"meta":{"status":200,"msg":"OK","response_id":"0qz07vp05l"}}"#
    }
}

/// One kind of upstream for posts.
struct PostFixture {
    let make: @Sendable (_ baseURL: String, _ transport: any HTTPTransport) -> any PostUpstream

    /// What is fetched where the response is this, and the request.
    func fetch(
        status: Int = 200, headers: HTTPHeaderFields = [("Content-Type", "application/json")], body: String,
        path: String = ""
    ) async throws(UpstreamError) -> (fetched: Fetched<PostBatch>, request: HTTPRequest?) {
        let transport = FixedTransport(HTTPResponse(status: status, headers: headers, body: Array(body.utf8)))
        let upstream = make("https://api.example" + path, transport)
        let fetched = try await upstream.posts(validators: Validators(), timeout: .seconds(1))
        return (fetched, transport.requests.first)
    }

    /// The batch of a response's body.
    func batch(_ body: String) async throws(UpstreamError) -> PostBatch { try await fetch(body: body).fetched.value }

    /// The error of a response; nil if it is decoded.
    func failure(_ body: String, status: Int = 200) async -> UpstreamError? {
        await NorrisUpstreamTests.failure { _ = try await fetch(status: status, body: body) }
    }
}

/// Returns one response without a network, and records the requests.
final class FixedTransport: HTTPTransport {
    private let response: HTTPResponse
    private let recorded = Mutex<[HTTPRequest]>([])

    init(_ response: HTTPResponse) { self.response = response }

    convenience init(_ body: String, headers: HTTPHeaderFields = [("Content-Type", "application/json")]) {
        self.init(HTTPResponse(status: 200, headers: headers, body: Array(body.utf8)))
    }

    var requests: [HTTPRequest] { recorded.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws(UpstreamError) -> HTTPResponse {
        recorded.withLock { $0.append(request) }
        if response.status == 200 || response.status == 304 { return response }
        throw UpstreamError(
            status: response.status, from: HTTPURL(request.url), headers: response.headers, body: response.body,
            now: Fixture.now)
    }
}

extension HTTPResponse {
    init(status: Int, headers: HTTPHeaderFields = [], body: [UInt8] = [], url: HTTPURL? = nil) {
        self.init(status: status, headers: headers, body: body, url: url, receivedAt: Fixture.now)
    }
}

extension Fetched {
    /// - Throws: an error for 304.
    var value: Value {
        get throws(UpstreamError) {
            guard case .changed(let value, _) = self else { throw UpstreamError(.decode, "Nothing has changed.") }
            return value
        }
    }
}

/// The error of an upstream; nil if there is none.
func failure(_ body: () async throws -> Void) async -> UpstreamError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? UpstreamError
    }
}

/// Expects an error of a kind with a text in its message.
func expect(
    _ error: UpstreamError?, _ kind: UpstreamError.Kind, _ text: String, isRetryable: Bool? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(error?.kind == kind, "\(error as Any)", sourceLocation: sourceLocation)
    #expect(error?.message.contains(text) == true, "\(error as Any)", sourceLocation: sourceLocation)
    if let isRetryable { #expect(error?.isRetryable == isRetryable, sourceLocation: sourceLocation) }
}

/// The message of an error; nil if there is none.
func fault(_ body: () throws(UpstreamError) -> Void) -> String? {
    do throws(UpstreamError) {
        try body()
        return nil
    } catch {
        return error.message
    }
}

/// The error of work in a task that is already cancelled.
func failureWhenCancelled(_ body: @escaping @Sendable () throws -> Void) async -> UpstreamError? {
    await withTaskGroup(of: UpstreamError?.self) { group in
        group.cancelAll()
        group.addTask { await failure(body) }
        return await group.next() ?? nil
    }
}

// Most tests are not about budgets: their limits are those of any document, but no time passes, for a debug build on a
// busy machine needs more of it.

extension DecodingBudget { static var untimed: DecodingBudget { DecodingBudget(clock: { .zero }) } }

func plainText(fromHTML html: String) -> String { plainText(fromHTML: html, .untimed) }

func holdsMarkup(_ text: String) -> Bool { holdsMarkup(text, .untimed) }

extension PostBatchBuilder { init(source: String) { self.init(source: source, .untimed) } }
