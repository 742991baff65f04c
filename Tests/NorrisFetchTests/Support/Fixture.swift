import Dispatch
import NorrisFetchProtocol
import NorrisProtocol
import NorrisTestSupport
import NorrisText
import Testing

@testable import NorrisFetch

/// A fake upstream and requests to it. Both end with the test.
struct Fixture: Sendable {
    /// The reference time of `Retry-After` and similar fields: `Sun, 06 Nov 1994 08:49:37 GMT`.
    static let now = Timestamp(seconds: 784_111_777)
    /// A timeout that no request reaches, even on a busy machine, in milliseconds.
    static let longEnough = 900_000
    static let search = "/jokes/search?query=chuck"

    let upstream: FakeUpstream
    /// The values of each request.
    var request = FetchRequest()
    var trustRoots: String?
    var allowsPrivate: Bool?

    static func run(
        _ upstream: FakeUpstream, baseURL: String? = nil, configure: (inout Fixture) -> Void = { _ in },
        _ body: (Fixture) async throws -> Void
    ) async throws {
        var fixture = Fixture(upstream: upstream)
        fixture.request.timeout = longEnough
        fixture.request.userAgent = "norrisd/test"
        fixture.request.url = baseURL ?? upstream.baseURL
        configure(&fixture)
        do {
            try await body(fixture)
        } catch {
            await upstream.stop()
            throw error
        }
        await upstream.stop()
    }

    /// Sends a request and returns the response.
    ///
    /// - Parameter url: the configured URL; the upstream's with the path if nil.
    func send(
        _ path: String = search, url: String? = nil, headers: [(name: String, value: String)] = []
    ) async throws(UpstreamError) -> HTTPResponse {
        // SAFETY: Tests pass valid URLs.
        let url = HTTPURL(url ?? upstream.baseURL + path)!
        let result = await onThread { () -> Result<HTTPResponse, UpstreamError> in
            let download = Download(
                request, from: url, timeout: request.timeout, allowsPrivate: allowsPrivate, trustRoots: trustRoots)
            return Result { () throws(UpstreamError) in try download.response(headers: headers) }
        }
        return try result.get()
    }

    /// The error of a request; nil if the request succeeds.
    func failure(_ path: String = search, url: String? = nil) async -> UpstreamError? {
        do throws(UpstreamError) {
            _ = try await send(path, url: url)
            return nil
        } catch {
            return error
        }
    }

    func failure(with fault: FakeUpstream.Fault?) async -> UpstreamError? {
        upstream.setFault(fault)
        return await failure()
    }

    /// Fetches and decodes a document.
    func fetch(_ kind: FetchRequest.Kind, _ change: (inout FetchRequest) -> Void = { _ in }) async -> Fetched {
        var request = request
        request.kind = kind.rawValue
        change(&request)
        let fetcher = Fetcher(request: request, allowsPrivate: allowsPrivate, trustRoots: trustRoots)
        return await onThread { fetcher.fetch() }
    }

    // MARK: Giphy

    /// A key with the length and the alphabet of a real key.
    static let key = "Qw3rTyUi0pAsDfGhJkLzXcVbNm1234567"

    /// Fetches GIFs with the key, and with the rating `g` unless it is changed.
    func giphy(
        _ kind: FetchRequest.Kind, _ query: String? = nil, offset: Int? = nil, limit: Int? = nil,
        _ change: (inout FetchRequest) -> Void = { _ in }
    ) async -> Fetched {
        await fetch(kind) { request in
            (request.query, request.offset, request.limit) = (query, offset, limit)
            (request.rating, request.key) = ("g", Fixture.key)
            change(&request)
        }
    }

    /// A Giphy response with an id and the given data.
    static func envelope(_ data: String, pagination: String? = nil) -> String {
        let pagination = pagination.map { #""pagination":\#($0),"# } ?? ""
        return #"{"data":\#(data),\#(pagination)"meta":{"status":200,"msg":"OK","response_id":"0qz07vp05l"}}"#
    }
}

/// Runs a body that blocks on a separate thread.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        DispatchQueue(label: "test").async { continuation.resume(returning: body()) }
    }
}

/// Decodes a document of a kind of upstream.
func decoded(
    _ document: some Collection<UInt8>, as kind: FetchRequest.Kind, at url: String = "https://api.example",
    _ change: (inout FetchRequest) -> Void = { _ in }
) -> Fetched {
    var request = FetchRequest(kind, url: url)
    request.source = "test"
    change(&request)
    return Fetcher(request: request, document: Array(document)).fetch()
}

func decoded(
    _ document: String, as kind: FetchRequest.Kind, at url: String = "https://api.example",
    _ change: (inout FetchRequest) -> Void = { _ in }
) -> Fetched { decoded(document.utf8, as: kind, at: url, change) }

/// A head with some values.
func head(_ change: (inout FetchHead) -> Void) -> FetchHead {
    var head = FetchHead()
    change(&head)
    return head
}

extension Fetched: @unchecked Sendable {
    var posts: [Post] { items.compactMap { ($0 as? FetchedPost)?.post } }
    var facts: [Fact] { items.compactMap { $0 as? Fact } }
    var gifs: [Gif] { items.compactMap { $0 as? Gif } }
    var skipped: Int { head.skipped }
    var failure: FetchFailure? { head.failure }
    /// Whether there is neither an item nor any other value, such as a failure.
    var isEmpty: Bool { items.isEmpty && head == FetchHead() }
}

extension HTTPResponse {
    init(status: Int, headers: HTTPHeaderFields = [], body: [UInt8] = []) {
        // SAFETY: The URL is valid.
        self.init(
            status: status, headers: headers, body: body, url: HTTPURL("https://h/x?key=secret")!,
            receivedAt: Fixture.now)
    }
}

func expect(
    _ error: UpstreamError?, _ kind: UpstreamError.Kind, _ text: String, isRetryable: Bool? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(error?.kind == kind, "\(error as Any)", sourceLocation: sourceLocation)
    #expect(error?.message.contains(text) == true, "\(error as Any)", sourceLocation: sourceLocation)
    if let isRetryable { #expect(error?.failure.isRetryable == isRetryable, sourceLocation: sourceLocation) }
}

func fault(_ body: () throws(UpstreamError) -> Void) -> String? {
    do throws(UpstreamError) {
        try body()
        return nil
    } catch {
        return error.message
    }
}
