package import NorrisProtocol
import NorrisText

/// The API of chucknorris.io, or of a server with the same API.
package struct Chucknorris: Sendable {
    private let baseURL: String
    private let timeout: Duration
    private let fetcher: Fetcher

    /// - Parameter timeout: for a whole request that has none of its own.
    package init(
        baseURL: String, transport: any HTTPTransport, timeout: Duration, decodingOn executor: (any TaskExecutor)? = nil
    ) {
        self.baseURL = baseURL
        self.timeout = timeout
        fetcher = Fetcher(transport: transport, executor: executor)
    }

    /// All facts that hold a text, whatever the case.
    ///
    /// - Parameter query: 3...120 UTF-16 units, else the upstream answers 400; `%` and `_` are wildcards there.
    package func search(
        _ query: String, validators: Validators = Validators(), timeout: Duration? = nil
    ) async throws(UpstreamError) -> Fetched<FactBatch> {
        let url = joinedURL(baseURL, "jokes/search?query=\(percentEncoded(query))")
        return try await fetcher.json(url, validators, timeout ?? self.timeout) {
            response, budget throws(UpstreamError) in try FactBatch(searchResult: response.body, budget)
        }
    }

    /// The names of all categories.
    package func categories() async throws(UpstreamError) -> Fetched<[String]> {
        let url = joinedURL(baseURL, "jokes/categories")
        return try await fetcher.json(url, Validators(), timeout) { response, budget throws(UpstreamError) in
            var names: [String] = []
            try JSONItems.forEach(in: response.body[...], budget) { item throws(UpstreamError) in
                // The list is short.
                guard names.count < 1000, let name = JSONItem.text(item: item, .tag) else { return }
                names.append(name)
            }
            return Fact.categoryNames(names)
        }
    }
}

/// The usable facts of one response.
package struct FactBatch: Sendable, Equatable {
    /// A response with more jokes is refused: the real upstream has some ten thousand.
    private static let maximumJokes = 100_000

    /// In the order of the response, no id twice.
    package var facts: [Fact] = []
    /// The number of items that could not be used.
    package var skipped = 0
    /// Counts the facts as memory of the decoder until the batch is gone.
    var memory = CountedMemory()
}

extension FactBatch {
    /// Decodes the response of a search: an object with the jokes under `result`.
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
            // Ids are ASCII in practice; equal ones of other forms would not both fit a database either.
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
    /// About what a fact takes in an array and a set of ids, in bytes.
    fileprivate var memory: Int {
        2 * MemoryLayout<Fact>.stride + heapBytes([id, text, url ?? ""]) + heapBytes(categories)
    }

    /// A fact from a joke of api.chucknorris.io; nil without a usable id, text and categories. Categories are under
    /// `categories`, before 2019 under `category`. Whatever else cannot be used is left out, and members that are not
    /// known do not matter.
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

    /// The longest id that `fact.get` takes, in code points, and nothing that is not visible in one line. A colon, or
    /// `builtin-`, belongs to ids of other sources.
    private static func isUsableID(_ id: String) -> Bool {
        (1...200).contains(id.unicodeScalars.count) && sanitizedLine(id).hasSameBytes(as: id)
            && !id.utf8.contains(UInt8(ascii: ":")) && !id.utf8.starts(with: "builtin-".utf8)
    }

    /// Nil if they are neither absent nor null nor of a type that was ever sent.
    private static func categories(_ joke: JSONItem) -> [String]? {
        if joke.isArray("categories") { return categoryNames(joke.texts("categories", .tag)) }
        guard joke.isNull("categories") else { return nil }
        if joke.isArray("category") { return categoryNames(joke.texts("category", .tag)) }
        if let name = joke.text("category", .tag) { return categoryNames([name]) }
        return joke.isNull("category") ? [] : nil
    }

    /// The number of names that are read of one list; an upstream has sixteen. The store keeps fewer of a fact.
    private static let maximumNames = 64

    /// Those that may be names of categories, each once, in their order.
    fileprivate static func categoryNames(_ names: [String]) -> [String] {
        var known: Set<String> = []
        var result: [String] = []
        for name in names where isCategoryName(name) && !known.contains(name) {
            if result.count < maximumNames {
                known.insert(name)
                result.append(name)
            } else if name.hasSameBytes(as: explicitCategory) {
                // Without it the fact would be served to everybody.
                known.insert(name)
                result[maximumNames - 1] = name
            }
        }
        return result
    }
}
