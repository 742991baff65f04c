package import NorrisProtocol
import NorrisText

/// The API of chucknorris.io, or of a server with the same API.
package struct Chucknorris: Sendable {
    private let baseURL: String
    private let timeout: Duration
    private let fetcher: Fetcher

    /// - Parameter timeout: the default limit for a whole request.
    package init(
        baseURL: String, transport: any HTTPTransport, timeout: Duration, decodingOn executor: (any TaskExecutor)? = nil
    ) {
        self.baseURL = baseURL
        self.timeout = timeout
        fetcher = Fetcher(transport: transport, executor: executor)
    }

    /// All facts that contain a text of 3...120 UTF-16 units, ignoring case; `%` and `_` in the text are wildcards.
    ///
    /// - Parameter timeout: the limit of a user's search, which is one request; nil for a run.
    package func search(
        _ query: String, validators: Validators = Validators(), timeout: Duration? = nil
    ) async throws(UpstreamError) -> Fetched<FactBatch> {
        let url = joinedURL(baseURL, "jokes/search?query=\(percentEncoded(query))")
        var fetcher = fetcher
        fetcher.asksPastCaches = timeout == nil
        return try await fetcher.json(url, validators, timeout ?? self.timeout) {
            response, budget throws(UpstreamError) in try FactBatch(searchResult: response.body, budget)
        }
    }

    package func categories() async throws(UpstreamError) -> Fetched<[String]> {
        let url = joinedURL(baseURL, "jokes/categories")
        return try await fetcher.json(url, Validators(), timeout) { response, budget throws(UpstreamError) in
            var names: [String] = []
            try JSONItems.forEach(in: response.body[...], budget) { item throws(UpstreamError) in
                // The real list is short.
                guard names.count < 1000, let name = JSONItem.text(item: item, .tag) else { return }
                names.append(name)
            }
            return Fact.categoryNames(names)
        }
    }
}

/// The usable facts of one response.
package struct FactBatch: Sendable, Equatable {
    /// The largest number of jokes in an accepted response; the real upstream has about ten thousand.
    private static let maximumJokes = 100_000

    /// The facts in the order of the response, without repeated ids.
    package var facts: [Fact] = []
    package var skipped = 0
    /// Counts the facts in the memory of the decoder while the batch exists.
    var memory = CountedMemory()
}

extension FactBatch {
    /// Decodes the response to a search: an object with the jokes under `result`.
    init(searchResult body: [UInt8], _ budget: DecodingBudget) throws(UpstreamError) {
        self.init()
        var ids: Set<String> = []
        var total = 0
        try JSONItems.forEach(in: body, under: "result", budget) { item throws(UpstreamError) in
            total += 1
            if total > Self.maximumJokes { throw .unusable("answered with more than \(Self.maximumJokes) jokes") }
            guard let joke = JSONItem(item: item), let fact = Fact(joke: joke, budget) else {
                skipped += 1
                return
            }
            // The set also drops an id that differs only in Unicode normalization. Ids are ASCII in practice.
            guard ids.insert(fact.id).inserted else { return }
            budget.spend(bytes: MemoryLayout<Fact>.stride)
            budget.hold(fact.memory)
            facts.append(fact)
        }
        memory.lease = budget.memory
        if facts.isEmpty && total > 0 { throw .unusable("answered with \(total) jokes, none of them usable") }
    }
}

extension Fact {
    /// The approximate memory of a fact in an array and a set of ids, in bytes.
    fileprivate var memory: Int {
        2 * MemoryLayout<Fact>.stride + heapBytes([id, text, url ?? ""]) + heapBytes(categories)
    }

    /// Decodes a joke. Returns nil without a usable id, text and categories (key `category` before 2019). Unknown
    /// members and other unusable values are ignored.
    init?(joke: JSONItem, _ budget: DecodingBudget) {
        guard let id = joke.text("id", .id), Self.isUsableID(id), let value = joke.text("value", .text),
            let categories = Self.categories(joke)
        else { return nil }
        let text = trimmed(sanitizedText(holdsMarkup(value, budget) ? plainText(fromHTML: value, budget) : value))
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
        if joke.isArray("categories") { return categoryNames(joke.texts("categories", .tag)) }
        guard joke.isNull("categories") else { return nil }
        if joke.isArray("category") { return categoryNames(joke.texts("category", .tag)) }
        if let name = joke.text("category", .tag) { return categoryNames([name]) }
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
