import NorrisFetchProtocol
import NorrisProtocol
import NorrisText

/// The API of Giphy. The administrator's key is part of each request and never appears in an error.
extension Fetcher {
    /// The GIFs of a request, in Giphy's order; none beyond the largest offset that Giphy takes.
    func gifs(_ kind: FetchRequest.Kind) throws(UpstreamError) -> Fetched {
        var parameters = [("api_key", request.key ?? ""), ("rating", request.rating ?? "")]
        var path = "gifs"
        var window: GifWindow?
        switch kind {
        case .gifSearch:
            path += "/search"
            parameters += [("q", request.query ?? "")] + (request.lang.map { [("lang", $0)] } ?? [])
            window = GifWindow(request, maximumOffset: 4999)
        case .gifTrending:
            path += "/trending"
            window = GifWindow(request, maximumOffset: 499)
        case .gifRandom:
            path += "/random"
            parameters += request.query.map { [("tag", $0)] } ?? []
        default:
            let ids = (request.query ?? "").split(separator: ",").map(String.init).filter(Gif.isPossibleID)
            if ids.isEmpty { return Fetched() }
            // A single GIF is a separate document, which also exists if the GIF has another rating.
            if ids.count == 1 { path += "/\(ids[0])" } else { parameters.append(("ids", ids.joined(separator: ","))) }
        }
        if let window {
            if window.offset > window.maximumOffset { return Fetched() }
            parameters += [("offset", String(window.offset)), ("limit", String(window.limit))]
        }
        let query = parameters.map { "\($0.0)=\(percentEncoded($0.1))" }.joined(separator: "&")
        do throws(UpstreamError) {
            // Giphy's terms forbid shared caches.
            return try json("v1/\(path)?\(query)", allowsStorage: false) { response throws(UpstreamError) in
                try Fetched(gifs: response, of: window)
            }
        } catch {
            // The ids are unknown, or the rating of the GIF is too strong.
            if kind == .gifs, error.kind == .http(status: 404) { return Fetched() }
            throw error.ofGiphy(hiding: request.key ?? "")
        }
    }
}

extension UpstreamError {
    fileprivate func ofGiphy(hiding key: String) -> UpstreamError {
        var error = self
        let text = message.lowercased()
        switch kind {
        case .http(400):
            // Giphy also answers 400 during an outage.
            error.isTransient = true
        case .http(403) where text.hasPart("not available") && text.hasPart("location"):
            // The key is valid, but the GIF is not available at norrisd's location.
            break
        case .quota, .http(429):
            error.kind = .quota
            error.reply?.status = 429
            error.reply?.isLimit = true
            // Giphy's rate limit counts by the hour. A 429 does not say since when, so the wait ends at the next full
            // hour.
            error.reply?.pause = reply?.pause ?? Int(3600 - Timestamp.now().seconds % 3600)
        case .http(let status) where status == 401 || status == 403:
            error.kind = .credentials
            error.message =
                "API key refused (HTTP \(status)). Get a key at developers.giphy.com, and put it into the credential "
                + "giphy-api-key or the file that gifs.api_key_file names."
        case .http(414): error.add("Giphy takes queries of 50 characters at most")
        default: break
        }
        error.message = redacted(error.message, hiding: key)
        return error
    }

    private mutating func add(_ advice: String) {
        let sentence = Self.cut(message, to: 300)
        message = "\(sentence.last == "." ? String(sentence.dropLast()) : sentence); \(advice)."
    }
}

/// Replaces a key, ignoring case, with `***`, and also a prefix from eight bytes, because the text may be cut.
func redacted(_ text: String, hiding key: String) -> String {
    let folded = { (text: String) in text.utf8.map { isLetter($0) ? $0 | 0x20 : $0 } }
    let (key, letters, bytes) = (folded(key), folded(text), Array(text.utf8))
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
