package import NorrisProtocol

/// The API of Giphy, with the key of whoever runs the daemon.
///
/// The key stands in every request and nowhere else: not in errors either.
package struct Giphy: Sendable {
    /// The last position that a search may begin at.
    private static let maximumSearchOffset = 4999
    /// The last position that trending may begin at.
    private static let maximumTrendingOffset = 499
    /// The number of GIFs that one request may name by id.
    static let maximumIDs = 100

    private let baseURL: String
    private let key: APIKey
    private let rating: String
    private let timeout: Duration
    private let fetcher: Fetcher

    /// - Parameters:
    ///   - baseURL: may hold a port and a path, to which those of the API are added.
    ///   - rating: the strongest that is wanted where a request names none; without any, Giphy returns all.
    ///   - timeout: for a whole request that has none of its own.
    ///   - executor: decodes the responses.
    package init(
        baseURL: String, key: String, rating: String, transport: any HTTPTransport, timeout: Duration,
        decodingOn executor: (any TaskExecutor)? = nil
    ) {
        self.baseURL = baseURL
        self.key = APIKey(value: key)
        self.rating = rating
        self.timeout = timeout
        fetcher = Fetcher(transport: transport, executor: executor)
    }

    /// GIFs for a text, in Giphy's order.
    ///
    /// - Parameters:
    ///   - query: at most 50 characters, else Giphy answers 414; an empty one finds nothing.
    ///   - offset: beyond 4,999 nothing is fetched.
    ///   - limit: 1...50.
    package func search(
        _ query: String, offset: Int, limit: Int, rating: String? = nil, lang: String? = nil, timeout: Duration? = nil
    ) async throws(UpstreamError) -> GifPage {
        let window = Window(offset: offset, limit: limit, maximumOffset: Self.maximumSearchOffset)
        let parameters = [("q", query)] + (lang.map { [("lang", $0)] } ?? [])
        return try await page("gifs/search", parameters, window, rating: rating, timeout)
    }

    /// The GIFs that are shown most.
    ///
    /// - Parameters:
    ///   - offset: beyond 499 nothing is fetched.
    ///   - limit: 1...50.
    package func trending(
        offset: Int, limit: Int, timeout: Duration? = nil
    ) async throws(UpstreamError) -> GifPage {
        let window = Window(offset: offset, limit: limit, maximumOffset: Self.maximumTrendingOffset)
        return try await page("gifs/trending", [], window, timeout)
    }

    /// Any GIF, or any that matches a tag; nil if none does.
    package func random(tag: String? = nil, timeout: Duration? = nil) async throws(UpstreamError) -> Gif? {
        try await fetch("gifs/random", tag.map { [("tag", $0)] } ?? [], timeout).gifs.first
    }

    /// The GIF with an id; nil if there is none that is no stronger than the rating.
    package func gif(id: String, timeout: Duration? = nil) async throws(UpstreamError) -> Gif? {
        guard Self.isPossibleID(id) else { return nil }
        do throws(UpstreamError) {
            return try await fetch("gifs/\(id)", [], timeout).gifs.first { $0.id == id }
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
            let response = try await fetch("gifs", [("ids", ids.joined(separator: ","))], timeout)
            return GifPage(gifs: response.gifs, skipped: response.skipped, totalCount: response.totalCount)
        } catch where error.kind == .http(status: 404) {
            return GifPage()
        }
    }

    /// A part of a long list.
    private struct Window {
        var offset: Int
        var limit: Int
        var maximumOffset: Int

        /// Where the next page begins; nil at the end. Counted from the request: an `offset` in the response that does
        /// not move would lead in a circle.
        func next(after response: GiphyResponse) -> Int? {
            let count = response.pageCount ?? response.items
            // A page may be short before the end; without pagination a short page has to be the last.
            let hasPagination = response.pageCount != nil || response.totalCount != nil
            if count == 0 || (!hasPagination && count < limit) { return nil }
            let next = offset + count
            return next < response.totalCount ?? .max && next <= maximumOffset ? next : nil
        }
    }

    private func page(
        _ path: String, _ parameters: [(String, String)], _ window: Window, rating: String? = nil, _ timeout: Duration?
    ) async throws(UpstreamError) -> GifPage {
        if window.offset > window.maximumOffset { return GifPage() }
        let position = [("offset", String(window.offset)), ("limit", String(window.limit))]
        let response = try await fetch(path, parameters + position, rating: rating, timeout)
        return GifPage(
            gifs: response.gifs, skipped: response.skipped, totalCount: response.totalCount,
            nextOffset: window.next(after: response)
        )
    }

    private func fetch(
        _ path: String, _ parameters: [(String, String)], rating: String? = nil, _ timeout: Duration?
    ) async throws(UpstreamError) -> GiphyResponse {
        let parameters = [("api_key", key.value), ("rating", rating ?? self.rating)] + parameters
        let query = parameters.map { "\($0.0)=\(percentEncoded($0.1))" }.joined(separator: "&")
        let url = joinedURL(baseURL, "v1/\(path)?\(query)")
        do throws(UpstreamError) {
            let fetched = try await fetcher.json(
                url, timeout: timeout ?? self.timeout
            ) { response, budget throws(UpstreamError) in
                try GiphyResponse(response, from: url, budget)
            }
            guard case .changed(let response, _) = fetched else {
                throw UpstreamError(.decode, "Giphy answered 304, but was not asked for a change.")
            }
            return response
        } catch {
            throw error.ofGiphy(hiding: key)
        }
    }
}

/// The usable GIFs of one response, and where the next ones are.
package struct GifPage: Sendable, Equatable {
    /// In the order of the response, no id twice. A later page may repeat some: the list moves while it is read.
    package var gifs: [Gif] = []
    /// The number of items that could not be used.
    package var skipped = 0
    /// The number of GIFs in all, as Giphy estimates; nil where it does not.
    package var totalCount: Int?
    /// Where the next page begins; nil at the end.
    package var nextOffset: Int?
}

/// A key that stands in requests and must not be seen anywhere else.
struct APIKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    let value: String

    var description: String { "***" }
    var debugDescription: String { description }

    /// The text with `***` for the key in large or small letters, and for its beginning, from eight bytes on: the text
    /// may have been cut.
    func redacted(_ text: String) -> String {
        let folded = { (text: String) in text.utf8.map { isLetter($0) ? $0 | 0x20 : $0 } }
        let (key, letters, bytes) = (folded(value), folded(text), Array(text.utf8))
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let matched = zip(key, letters[index...]).prefix { $0 == $1 }.count
            if matched > 0, matched >= min(key.count, 8) {
                result += "***".utf8
                index += matched
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

extension UpstreamError {
    /// The meaning of an error in a request to Giphy.
    fileprivate func ofGiphy(hiding key: APIKey) -> UpstreamError {
        var error = self
        let text = message.lowercased()
        switch kind {
        case .http(400):
            // Giphy says so too while it is down.
            error.isTransient = true
        case .http(403) where text.contains("not available") && text.contains("location"):
            // The key is fine: this GIF is not shown where norrisd runs.
            break
        case .quota:
            // Giphy sends it with everything; it does not mean that the hour is over.
            if retryAfter == .zero { error.retryAfter = nil }
        case .http(401), .http(403):
            error.kind = .credentials
            error.add(
                "get a key at developers.giphy.com, and put it into the credential giphy-api-key or the file that "
                    + "gifs.api_key_file names"
            )
        case .http(414):
            error.add("Giphy takes queries of 50 characters at most")
        default:
            break
        }
        error.message = key.redacted(error.message)
        return error
    }

    /// Continues the sentence.
    private mutating func add(_ advice: String) {
        let sentence = Self.cut(message, to: 300)
        message = "\(sentence.last == "." ? String(sentence.dropLast()) : sentence); \(advice)."
    }
}
