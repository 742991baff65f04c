import NorrisFetchProtocol
import NorrisProtocol
import NorrisText

/// The API of chucknorris.io, or of a server with the same API.
extension Fetcher {
    /// The largest number of jokes in an accepted response; the real upstream has about ten thousand.
    private static let maximumJokes = 200_000

    /// All facts that contain a text of 3...120 UTF-16 units, ignoring case; `%` and `_` in the text are wildcards. The
    /// response is an object with the jokes under `result`.
    func facts() throws(UpstreamError) -> Fetched {
        try json("jokes/search?query=\(percentEncoded(request.query ?? ""))") { response throws(UpstreamError) in
            var fetched = Fetched()
            var ids: Set<String> = []
            var total = 0
            try JSONItems.forEach(in: response.body, under: "result") { item throws(UpstreamError) in
                total += 1
                guard total <= Fetcher.maximumJokes else {
                    throw .unusable("answered with more than \(Fetcher.maximumJokes) jokes")
                }
                guard let joke = JSONItem(item: item), let fact = Fact(joke: joke) else {
                    fetched.head.skipped += 1
                    return
                }
                // The set also drops an id that differs only in Unicode normalization. Ids are ASCII in practice.
                if ids.insert(fact.id).inserted { fetched.items.append(fact) }
            }
            if fetched.items.isEmpty && total > 0 {
                throw .unusable("answered with \(total) jokes, none of them usable")
            }
            return fetched
        }
    }

    func categories() throws(UpstreamError) -> Fetched {
        try json("jokes/categories") { response throws(UpstreamError) in
            var names: [String] = []
            try JSONItems.forEach(in: response.body[...]) { item throws(UpstreamError) in
                // The real list is short.
                guard names.count < 1000, let name = JSONItem.text(item: item) else { return }
                names.append(name)
            }
            var fetched = Fetched()
            fetched.head.categories = Fact.categoryNames(names)
            return fetched
        }
    }
}

extension Fact {
    /// Decodes a joke. Returns nil without a usable id, text and categories (key `category` before 2019). Unknown
    /// members and other unusable values are ignored.
    init?(joke: JSONItem) {
        guard let id = joke.text("id"), Self.isUsableID(id), let value = joke.text("value"),
            let categories = Self.categories(joke)
        else { return nil }
        let text = trimmed(sanitizedText(plainText(guessing: value)))
        guard (1...Self.maximumLength).contains(text.unicodeScalars.count) else { return nil }
        self.init(
            id: id, text: text, categories: categories, source: "chucknorris", url: joke.url("url"),
            createdAt: joke.date("created_at"), updatedAt: joke.date("updated_at"))
    }

    /// Whether `fact.get` takes the id: 1...200 visible code points. A colon and `builtin-` belong to other sources.
    private static func isUsableID(_ id: String) -> Bool {
        (1...200).contains(id.unicodeScalars.count) && sanitizedLine(id).hasSameBytes(as: id)
            && !id.utf8.contains(UInt8(ascii: ":")) && !id.utf8.starts(with: "builtin-".utf8)
    }

    /// The categories, empty if absent or null; nil for a type that the upstream never sent.
    private static func categories(_ joke: JSONItem) -> [String]? {
        if joke.isArray("categories") { return categoryNames(joke.texts("categories")) }
        guard joke.isNull("categories") else { return nil }
        if joke.isArray("category") { return categoryNames(joke.texts("category")) }
        if let name = joke.text("category") { return categoryNames([name]) }
        return joke.isNull("category") ? [] : nil
    }

    /// The largest number of categories read from one list. The upstream has sixteen; the store keeps fewer per fact.
    private static let maximumNames = 64

    /// Returns the valid category names in their order, without duplicates.
    fileprivate static func categoryNames(_ names: [String]) -> [String] {
        var known: Set<String> = []
        var result: [String] = []
        for name in names where isCategoryName(name) && !known.contains(name) {
            if result.count < maximumNames {
                known.insert(name)
                result.append(name)
            } else if name.hasSameBytes(as: explicitCategory) {
                // Without this category, an explicit fact would be served to all users.
                known.insert(name)
                result[maximumNames - 1] = name
            }
        }
        return result
    }
}
