package import NorrisProtocol

/// The API of Giphy, with the key of whoever runs the daemon.
///
/// The key stands in every request and nowhere else: in no error and in no GIF.
package struct Giphy: Sendable {
    /// The last position that a search may begin at.
    package static let maximumSearchOffset = 4999
    /// The last position that trending may begin at.
    package static let maximumTrendingOffset = 499
    /// So many GIFs may be asked for by id at one time.
    package static let maximumIDs = 100

    private let baseURL: String
    private let key: APIKey
    private let rating: String
    private let transport: any HTTPTransport
    private let timeout: Duration
    private let executor: (any TaskExecutor)?
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - baseURL: may hold a port and a path, to which those of the API are added.
    ///   - rating: the strongest that may come where a request names none; without any, Giphy gives all.
    ///   - timeout: for a whole request that has none of its own.
    ///   - executor: decodes the answers.
    package init(
        baseURL: String,
        key: String,
        rating: String,
        transport: any HTTPTransport,
        timeout: Duration,
        decodingOn executor: (any TaskExecutor)? = nil,
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        var baseURL = baseURL
        while baseURL.last == "/" { baseURL.removeLast() }
        self.baseURL = baseURL
        self.key = APIKey(key)
        self.rating = rating
        self.transport = transport
        self.timeout = timeout
        self.executor = executor
        self.now = now
    }

    /// GIFs for a text, in Giphy's order.
    ///
    /// - Parameters:
    ///   - query: at most 50 characters, else Giphy answers 414; an empty one finds nothing.
    ///   - offset: beyond ``maximumSearchOffset`` there is nothing, and nothing is asked.
    ///   - limit: 1...50.
    package func search(
        _ query: String, offset: Int, limit: Int, rating: String? = nil, lang: String? = nil, timeout: Duration? = nil
    ) async throws(UpstreamError) -> GifPage {
        try await page(.search(query, lang: lang, offset: offset, limit: limit), rating: rating, timeout)
    }

    /// What is shown most.
    ///
    /// - Parameters:
    ///   - offset: beyond ``maximumTrendingOffset`` there is nothing, and nothing is asked.
    ///   - limit: 1...50.
    package func trending(
        offset: Int, limit: Int, timeout: Duration? = nil
    ) async throws(UpstreamError) -> GifPage {
        try await page(.trending(offset: offset, limit: limit), timeout)
    }

    /// Any GIF, or any that answers a tag; nil if none does.
    package func random(tag: String? = nil, timeout: Duration? = nil) async throws(UpstreamError) -> Gif? {
        try await ask(.random(tag: tag), timeout).gifs.first
    }

    /// Whether a GIF may have this id; any other is not asked for, for it would be of no use or mean something else.
    package static func isPossibleID(_ id: String) -> Bool { Gif.isUsableID(id) }

    /// The GIF with an id; nil if there is none that is no stronger than the rating.
    package func gif(id: String, timeout: Duration? = nil) async throws(UpstreamError) -> Gif? {
        guard Self.isPossibleID(id) else { return nil }
        do throws(UpstreamError) {
            return try await ask(.gif(id: id), timeout).gifs.first { $0.id == id }
        } catch where error.kind == .http(status: 404) {
            return nil
        }
    }

    /// The GIFs with these ids; whichever is unknown is left out.
    ///
    /// - Parameter ids: at most ``maximumIDs``.
    package func gifs(ids: [String], timeout: Duration? = nil) async throws(UpstreamError) -> GifPage {
        precondition(ids.count <= Self.maximumIDs, "\(ids.count) ids are too many for one request.")
        let ids = ids.filter(Self.isPossibleID)
        if ids.isEmpty { return GifPage() }
        do throws(UpstreamError) {
            return try await page(.gifs(ids: ids), timeout)
        } catch where error.kind == .http(status: 404) {
            return GifPage()
        }
    }

    private func page(
        _ endpoint: GiphyEndpoint, rating: String? = nil, _ timeout: Duration?
    ) async throws(UpstreamError) -> GifPage {
        if let window = endpoint.window, window.offset > window.maximumOffset { return GifPage() }
        return GifPage(try await ask(endpoint, rating: rating, timeout), of: endpoint.window)
    }

    private func ask(
        _ endpoint: GiphyEndpoint, rating: String? = nil, _ timeout: Duration?
    ) async throws(UpstreamError) -> GiphyAnswer {
        let url = baseURL + endpoint.target(key: key, rating: rating ?? self.rating)
        let now = now()
        do throws(UpstreamError) {
            let fetched = try await transport.fetchJSON(
                url, validators: Validators(), timeout: timeout ?? self.timeout, now: now, on: executor
            ) { body, budget throws(UnusableBody) in
                try GiphyAnswer.read(body, of: endpoint, from: url, hiding: key, now: now, budget)
            }
            switch fetched {
            case .changed(let result, _): return try result.get()
            case .unchanged: throw UpstreamError(.decode, "Giphy answered 304, but was not asked for a change.")
            }
        } catch {
            throw error.ofGiphy(hiding: key)
        }
    }
}
