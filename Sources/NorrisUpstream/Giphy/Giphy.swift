package import NorrisProtocol

/// The API of Giphy. The administrator's key is part of each request and never appears in an error.
package struct Giphy: Sendable {
    /// The largest number of ids in one request for GIFs.
    package static let maximumIDs = 100

    private let baseURL: String
    private let key: APIKey
    private let rating: String
    private let timeout: Duration
    private let fetcher: Fetcher

    /// - Parameters:
    ///   - rating: the default for the strongest rating; if empty, Giphy returns all GIFs.
    ///   - timeout: the default limit for a whole request.
    package init(
        baseURL: String, key: String, rating: String, transport: any HTTPTransport, timeout: Duration,
        decodingOn executor: (any TaskExecutor)? = nil
    ) {
        self.baseURL = baseURL
        self.key = APIKey(value: key)
        self.rating = rating
        self.timeout = timeout
        // Each request counts, and Giphy's terms forbid shared caches.
        fetcher = Fetcher(transport: transport, executor: executor, asksPastCaches: false, allowsStorage: false)
    }

    /// GIFs that match a text of at most 50 characters, in Giphy's order. `limit` is 1...50; empty beyond offset 4,999.
    package func search(
        _ query: String, offset: Int, limit: Int, rating: String? = nil, lang: String? = nil, timeout: Duration? = nil
    ) async throws(UpstreamError) -> GifPage {
        let window = GifPage.Window(offset: offset, limit: limit, maximumOffset: 4999)
        let parameters = [("q", query)] + (lang.map { [("lang", $0)] } ?? [])
        return try await fetch("gifs/search", parameters, timeout, rating: rating, window)
    }

    /// The most popular GIFs at present. `limit` is 1...50; empty beyond offset 499.
    package func trending(offset: Int, limit: Int, timeout: Duration? = nil) async throws(UpstreamError) -> GifPage {
        try await fetch("gifs/trending", [], timeout, GifPage.Window(offset: offset, limit: limit, maximumOffset: 499))
    }

    /// A random GIF, with a tag if given; nil if no GIF matches.
    package func random(tag: String? = nil, timeout: Duration? = nil) async throws(UpstreamError) -> Gif? {
        try await fetch("gifs/random", tag.map { [("tag", $0)] } ?? [], timeout).gifs.first
    }

    /// The GIF with an id; nil if it does not exist or its rating is too strong.
    package func gif(id: String, timeout: Duration? = nil) async throws(UpstreamError) -> Gif? {
        guard Self.isPossibleID(id) else { return nil }
        do throws(UpstreamError) {
            return try await fetch("gifs/\(id)", [], timeout).gifs.first { $0.id == id }
        } catch  where error.kind == .http(status: 404) {
            return nil
        }
    }

    /// The GIFs with these ids, at most ``maximumIDs``; unknown ids are ignored.
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
            // Without validators, Giphy does not answer 304.
            guard case .changed(let page, _) = fetched else { return GifPage() }
            return page
        } catch {
            throw error.ofGiphy(hiding: key)
        }
    }
}

/// A secret that is part of requests and prints as `***`.
struct APIKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    let value: String

    var description: String { "***" }
    var debugDescription: String { description }

    /// Replaces the key, ignoring case, with `***`, and also a prefix from eight bytes, because the text may be cut.
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
    fileprivate func ofGiphy(hiding key: APIKey) -> UpstreamError {
        var error = self
        let text = message.lowercased()
        switch kind {
        case .http(400):
            // Giphy also answers 400 during an outage.
            error.isTransient = true
        case .http(403) where text.contains("not available") && text.contains("location"):
            // The key is valid, but the GIF is not available at norrisd's location.
            break
        case .quota:
            // Giphy sends `Retry-After: 0` even if the hourly limit has not ended.
            if retryAfter == .zero { error.retryAfter = nil }
        case .http(let status) where status == 401 || status == 403:
            error.kind = .credentials
            error.message =
                "API key refused (HTTP \(status)). Get a key at developers.giphy.com, and put it into the credential "
                + "giphy-api-key or the file that gifs.api_key_file names."
        case .http(414): error.add("Giphy takes queries of 50 characters at most")
        default: break
        }
        error.message = key.redacted(error.message)
        return error
    }

    private mutating func add(_ advice: String) {
        let sentence = Self.cut(message, to: 300)
        message = "\(sentence.last == "." ? String(sentence.dropLast()) : sentence); \(advice)."
    }
}
