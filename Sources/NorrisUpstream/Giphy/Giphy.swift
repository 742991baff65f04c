package import NorrisProtocol

/// The API of Giphy, with the key of whoever runs the daemon. The key stands in every request and nowhere else: not in
/// errors either.
package struct Giphy: Sendable {
    /// The number of GIFs that one request may name by id.
    package static let maximumIDs = 100

    private let baseURL: String
    private let key: APIKey
    private let rating: String
    private let timeout: Duration
    private let fetcher: Fetcher

    /// - Parameters:
    ///   - rating: the strongest that is wanted where a request names none; without any, Giphy returns all.
    ///   - timeout: for a whole request that has none of its own.
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

    /// GIFs for a text of at most 50 characters, in Giphy's order; beyond offset 4,999 there are none.
    ///
    /// - Parameter limit: 1...50.
    package func search(
        _ query: String, offset: Int, limit: Int, rating: String? = nil, lang: String? = nil, timeout: Duration? = nil
    ) async throws(UpstreamError) -> GifPage {
        let window = GifPage.Window(offset: offset, limit: limit, maximumOffset: 4999)
        let parameters = [("q", query)] + (lang.map { [("lang", $0)] } ?? [])
        return try await fetch("gifs/search", parameters, timeout, rating: rating, window)
    }

    /// The GIFs that are shown most; beyond offset 499 there are none.
    ///
    /// - Parameter limit: 1...50.
    package func trending(offset: Int, limit: Int, timeout: Duration? = nil) async throws(UpstreamError) -> GifPage {
        try await fetch("gifs/trending", [], timeout, GifPage.Window(offset: offset, limit: limit, maximumOffset: 499))
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
        } catch  where error.kind == .http(status: 404) {
            return nil
        }
    }

    /// The GIFs with these ids, at most ``maximumIDs``; whichever is unknown is left out.
    package func gifs(ids: [String], timeout: Duration? = nil) async throws(UpstreamError) -> GifPage {
        precondition(ids.count <= Self.maximumIDs, "\(ids.count) ids are too many for one request.")
        let ids = ids.filter(Self.isPossibleID)
        if ids.isEmpty { return GifPage() }
        do throws(UpstreamError) {
            return try await fetch("gifs", [("ids", ids.joined(separator: ","))], timeout)
        } catch  where error.kind == .http(status: 404) {
            return GifPage()
        }
    }

    private func fetch(
        _ path: String, _ parameters: [(String, String)], _ timeout: Duration?, rating: String? = nil,
        _ window: GifPage.Window? = nil
    ) async throws(UpstreamError) -> GifPage {
        if let window, window.offset > window.maximumOffset { return GifPage() }
        let position = window.map { [("offset", String($0.offset)), ("limit", String($0.limit))] } ?? []
        let parameters = [("api_key", key.value), ("rating", rating ?? self.rating)] + parameters + position
        let query = parameters.map { "\($0.0)=\(percentEncoded($0.1))" }.joined(separator: "&")
        let url = joinedURL(baseURL, "v1/\(path)?\(query)")
        do throws(UpstreamError) {
            let fetched = try await fetcher.json(url, Validators(), timeout ?? self.timeout) {
                response, budget throws(UpstreamError) in try GifPage(response, of: window, from: url, budget)
            }
            // Without validators there is no 304.
            guard case .changed(let page, _) = fetched else { return GifPage() }
            return page
        } catch {
            throw error.ofGiphy(hiding: key)
        }
    }
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
                    + "gifs.api_key_file names")
        case .http(414): error.add("Giphy takes queries of 50 characters at most")
        default: break
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
