import Logging
import NorrisProtocol
import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisUpstream

/// A fake upstream and a transport to it. Both end with the test.
struct Fixture {
    /// The reference time of `Retry-After` and similar fields: `Sun, 06 Nov 1994 08:49:37 GMT`.
    static let now = Timestamp(seconds: 784_111_777)
    /// A timeout that no request reaches, even on a busy machine.
    static let longEnough = Duration.seconds(900)
    static let settings = HTTPSettings(timeout: longEnough, userAgent: "norrisd/test")
    static let quietLogger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    static let search = "/jokes/search?query=chuck"

    let upstream: FakeUpstream
    let transport: CurlTransport

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

    func send(
        _ path: String = search, url: String? = nil, headers: [(name: String, value: String)] = [],
        timeout: Duration = longEnough
    ) async throws(UpstreamError) -> HTTPResponse {
        try await transport.send(HTTPRequest(url: url ?? upstream.baseURL + path, headers: headers, timeout: timeout))
    }

    /// The error of a request; nil if the request succeeds.
    func failure(_ path: String = search, url: String? = nil, timeout: Duration = longEnough) async -> UpstreamError? {
        await NorrisUpstreamTests.failure { _ = try await send(path, url: url, timeout: timeout) }
    }

    func failure(with fault: FakeUpstream.Fault?, timeout: Duration = longEnough) async -> UpstreamError? {
        upstream.setFault(fault)
        return await failure(timeout: timeout)
    }

    func chucknorris(_ suffix: String = "") -> Chucknorris {
        Chucknorris(baseURL: upstream.baseURL + suffix, transport: transport, timeout: Self.longEnough)
    }

    // MARK: Giphy

    /// A key with the length and the alphabet of a real key.
    static let key = "Qw3rTyUi0pAsDfGhJkLzXcVbNm1234567"

    func giphy(_ suffix: String = "", key: String = key, rating: String = "g") -> Giphy {
        Giphy(
            baseURL: upstream.baseURL + suffix, key: key, rating: rating, transport: transport, timeout: Self.longEnough
        )
    }

    /// The Giphy API with a fixed response body and status 200.
    static func giphy(returning body: String, key: String = key) -> Giphy {
        Giphy(
            baseURL: "https://api.example", key: key, rating: "g", transport: FixedTransport(body), timeout: .seconds(1)
        )
    }

    /// A Giphy response with an id and the given data.
    static func envelope(_ data: String, pagination: String? = nil) -> String {
        let pagination = pagination.map { #""pagination":\#($0),"# } ?? ""
        return #"{"data":\#(data),\#(pagination)"meta":{"status":200,"msg":"OK","response_id":"0qz07vp05l"}}"#
    }
}

struct PostFixture {
    let make: @Sendable (_ baseURL: String, _ transport: any HTTPTransport) -> any PostUpstream

    /// Returns the posts decoded from the given response, and the request.
    func fetch(
        status: Int = 200, headers: HTTPHeaderFields = [("Content-Type", "application/json")], body: String,
        path: String = ""
    ) async throws(UpstreamError) -> (fetched: Fetched<PostBatch>, request: HTTPRequest?) {
        let transport = FixedTransport(HTTPResponse(status: status, headers: headers, body: Array(body.utf8)))
        let upstream = make("https://api.example" + path, transport)
        let fetched = try await upstream.posts(validators: Validators(), timeout: .seconds(1))
        return (fetched, transport.requests.first)
    }

    func batch(_ body: String) async throws(UpstreamError) -> PostBatch { try await fetch(body: body).fetched.value }

    func failure(_ body: String, status: Int = 200) async -> UpstreamError? {
        await NorrisUpstreamTests.failure { _ = try await fetch(status: status, body: body) }
    }
}

/// A transport that returns a fixed response and records the requests.
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
    /// - Throws: an error for status 304.
    var value: Value {
        get throws(UpstreamError) {
            guard case .changed(let value, _) = self else { throw UpstreamError(.decode, "Nothing has changed.") }
            return value
        }
    }
}

/// The upstream error of a body; nil if the body succeeds.
func failure(_ body: () async throws -> Void) async -> UpstreamError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? UpstreamError
    }
}

func expect(
    _ error: UpstreamError?, _ kind: UpstreamError.Kind, _ text: String, isRetryable: Bool? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(error?.kind == kind, "\(error as Any)", sourceLocation: sourceLocation)
    #expect(error?.message.contains(text) == true, "\(error as Any)", sourceLocation: sourceLocation)
    if let isRetryable { #expect(error?.isRetryable == isRetryable, sourceLocation: sourceLocation) }
}

func fault(_ body: () throws(UpstreamError) -> Void) -> String? {
    do throws(UpstreamError) {
        try body()
        return nil
    } catch {
        return error.message
    }
}

/// The error of a body in a canceled task.
func failureWhenCancelled(_ body: @escaping @Sendable () throws -> Void) async -> UpstreamError? {
    await withTaskGroup(of: UpstreamError?.self) { group in
        group.cancelAll()
        group.addTask { await failure(body) }
        return await group.next() ?? nil
    }
}

// The usual limits without a clock, because a debug build on a busy machine may exceed the time limit.

extension DecodingBudget { static var untimed: DecodingBudget { DecodingBudget(clock: { .zero }) } }

func plainText(fromHTML html: String) -> String { plainText(fromHTML: html, .untimed) }

func holdsMarkup(_ text: String) -> Bool { holdsMarkup(text, .untimed) }

extension PostBatchBuilder { init(source: String) { self.init(source: source, .untimed) } }
