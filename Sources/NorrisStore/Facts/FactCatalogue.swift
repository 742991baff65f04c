import CLinux
package import NorrisProtocol
import Synchronization

/// All facts that the daemon serves, immutable and in memory. A change of the facts makes a new catalogue.
///
/// A fact has a number, its position in the order of searches: newest `created_at` first, then the facts without a
/// date, then by the bytes of the id. A number is valid for one catalogue; ``hash(of:)`` of the id identifies a fact in
/// all of them.
package final class FactCatalogue: Sendable {
    /// The maximum number of facts, and the maximum bytes of their texts. Facts above a limit are left out.
    package static let maximumCount = 200_000
    package static let maximumTextBytes = 64 << 20
    private static let versions = Atomic(0)

    /// Distinguishes the catalogues of a process; greater than 0.
    let version: Int
    /// The number of facts that the limits left out.
    package let leftOut: Int
    /// The number of the upstream's facts.
    package let upstreamCount: Int
    /// Hashes of the ids.
    private let hashes: [UInt64]
    private let kinds: [FactKind]
    /// The lengths of the texts in code points, at most ``Fact/maximumLength``.
    private let lengths: [UInt16]
    /// The facts in wire form in any order, and the position of each.
    private let json: JSONWriter
    private let wire: [Range<UInt32>]
    /// The texts as searches read them, each with a line feed, which no search contains; and the end of each.
    private let folded: [UInt8]
    private let foldedEnds: [UInt32]
    private let byHash: [UInt64: UInt32]
    /// The numbers of the facts of each category, ascending.
    private let categories: [String: [UInt32]]

    package var count: Int { hashes.count }

    /// A hash of an id, the same in every process. Two ids with the same hash count as one id.
    static func hash(of id: String) -> UInt64 { SipHash.hash(id) }

    func hash(_ number: UInt32) -> UInt64 { hashes[Int(number)] }

    package func kind(_ number: UInt32) -> FactKind { kinds[Int(number)] }

    /// Calls the body with the wire form of a fact.
    @inline(__always)
    package func withFact<Result>(_ number: UInt32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let range = wire[Int(number)]
        return json.withBytes(in: Int(range.lowerBound)..<Int(range.upperBound), body)
    }

    package func fact(_ number: UInt32) -> Fact {
        // Not an error, because the builder has written the wire form.
        withFact(number) { (try? Fact(parsing: $0)) ?? Fact() }
    }

    /// Whether the bytes alone show that a fact does not fit into a line: in ASCII, each character takes a column, and
    /// a search reads white space as a line shows it.
    package func exceeds(columns: Int, _ number: UInt32) -> Bool {
        let start = number == 0 ? 0 : Int(foldedEnds[Int(number) - 1])
        // Without the line feed.
        guard Int(foldedEnds[Int(number)]) - start - 1 > columns else { return false }
        return withFact(number) { $0.reduce(0) { $0 | $1 } < 0x80 }
    }

    /// The number of the fact with an id; nil if there is none.
    package func number(ofID id: String) -> UInt32? { number(ofHash: FactCatalogue.hash(of: id)) }

    func number(ofHash hash: UInt64) -> UInt32? { byHash[hash] }

    // MARK: Categories

    package func hasCategory(_ name: String) -> Bool { categories[name] != nil }

    /// The categories with facts, by name, without explicit facts.
    package func categories(of source: FactScope) -> [FactCategories.Category] {
        let shown = FactKind.Set(source, allowsExplicit: false)
        return categories.compactMap { name, numbers in
            let count = numbers.count { shown.contains(kinds[Int($0)]) }
            return count > 0 ? FactCategories.Category(name: name, count: count) : nil
        }.sorted { $0.name < $1.name }
    }

    // MARK: Filters

    /// Whether a fact matches a filter.
    func matches(_ number: UInt32, _ filter: FactFilter) -> Bool {
        filter.kinds.contains(kinds[Int(number)]) && Int(lengths[Int(number)]) <= filter.maxLength ?? .max
            && (filter.categories.isEmpty || filter.categories.contains { has(number, $0) })
    }

    private func has(_ number: UInt32, _ category: String) -> Bool {
        guard let numbers = categories[category] else { return false }
        let index = numbers.partitioningIndex { $0 >= number }
        return index < numbers.count && numbers[index] == number
    }

    /// The numbers of the matching facts.
    package func numbers(_ filter: FactFilter) -> [UInt32] {
        var numbers: [UInt32] = []
        forEach(filter) { number, _ in numbers.append(number) }
        return numbers
    }

    /// Calls the body with the number and the hash of each fact that matches a filter. The time is proportional to the
    /// number of facts.
    @inline(__always) func forEach(_ filter: FactFilter, _ body: (_ number: UInt32, _ hash: UInt64) -> Void) {
        let shown = filter.kinds
        let maxLength = UInt16(clamping: filter.maxLength ?? .max)
        // One call of the body, so that it is inlined.
        let isAny = filter.categories.isEmpty
        let chosen = isAny ? [] : numbers(of: filter.categories)
        for position in 0..<(isAny ? count : chosen.count) {
            let number = isAny ? position : Int(chosen[position])
            guard lengths[number] <= maxLength, shown.contains(kinds[number]) else { continue }
            body(UInt32(truncatingIfNeeded: number), hashes[number])
        }
    }

    /// The numbers of the facts that have one of the categories.
    private func numbers(of names: [String]) -> [UInt32] {
        let lists = names.compactMap { categories[$0] }
        return lists.count == 1 ? lists[0] : Array(Set(lists.joined()))
    }

    /// Calls the body with each fact of a group.
    func forEachFact(of group: FactGroup, _ body: (Fact) -> Void) {
        for (number, kind) in kinds.enumerated() where kind.group == group { body(fact(UInt32(number))) }
    }

    // MARK: Search

    /// The bytes of text that a search may read on the event loop, a few milliseconds.
    package static let shortSearch = 32 << 20

    /// A page of the facts that contain all words of a query; without a freshness.
    ///
    /// - Parameters:
    ///   - key: the key of the cursors.
    ///   - effort: the bytes of text that may be read, roughly.
    /// - Returns: nil if the search would take more effort.
    /// - Throws: `-32602` for a cursor of another search.
    package func page(
        _ query: FactQuery, _ request: PageRequest, key: UInt64, effort: Int = .max
    ) throws(ResponseError) -> Page<Fact>? {
        var first = 0
        if let cursor = request.cursor {
            let cursor = try SealedCursor(cursor, of: query.list, key: key)
            // The fact of the cursor may have gone.
            first = (0..<count).partitioningIndex { number in
                let fact = fact(UInt32(number))
                return fact.searchDate == cursor.number
                    ? cursor.text.utf8.lexicographicallyPrecedes(fact.id.utf8) : fact.searchDate < cursor.number
            }
        }
        // The longest word is usually the rarest.
        let words = query.words.map { Array($0.utf8) }.sorted { $0.count > $1.count }
        guard folded.count <= effort else { return nil }
        var page = Page<Fact>(items: [])
        var (start, read, counted, bytes, hasMore) = (0, 0, 0, 0, false)
        while counted <= countedMatches || !hasMore, let found = position(of: words[0], start..<folded.count) {
            let number = UInt32(foldedEnds.partitioningIndex { $0 > found })
            start = Int(foldedEnds[Int(number)])
            let text = (number == 0 ? 0 : Int(foldedEnds[Int(number) - 1]))..<start
            read += text.count * words.count
            guard read <= effort else { return nil }
            guard matches(number, query.filter), words.dropFirst().allSatisfy({ position(of: $0, text) != nil }) else {
                continue
            }
            counted += 1
            guard number >= first, !hasMore else { continue }
            bytes += withFact(number, \.count)
            // As many as requested and as fit into a reply, but at least one.
            hasMore = page.items.count == request.limit || bytes > maximumPageBytes && !page.items.isEmpty
            if !hasMore { page.items.append(fact(number)) }
        }
        if counted <= countedMatches { page.total = counted }
        if hasMore, let last = page.items.last {
            page.next = SealedCursor(number: last.searchDate, text: last.id).sealed(for: query.list, key: key)
        }
        return page
    }

    /// The position of a word in a part of the folded texts.
    private func position(of word: [UInt8], _ part: Range<Int>) -> Int? {
        folded.withUnsafeBytes { texts in
            guard let base = texts.baseAddress else { return nil }
            // Not nil, because a word has at least one character.
            return word.withUnsafeBytes {
                memmem(base + part.lowerBound, part.count, $0.baseAddress!, $0.count)
                    .map { UnsafeRawPointer($0) - base }
            }
        }
    }

    // MARK: Building

    /// - Parameters:
    ///   - ids: the indices of the drafts by the hashes of their ids.
    ///   - order: the indices of the drafts, in the order of searches.
    ///   - json: the wire forms of the drafts.
    ///   - texts: the folded texts of the drafts.
    init(
        _ drafts: [FactDraft], _ ids: [UInt64: Int], in order: [Int], json: consuming JSONWriter,
        folded texts: [UInt8], leftOut: Int
    ) {
        version = FactCatalogue.versions.add(1, ordering: .relaxed).newValue
        self.leftOut = leftOut
        self.json = json
        upstreamCount = drafts.count { !$0.kind.isLocal }
        hashes = order.map { drafts[$0].hash }
        kinds = order.map { drafts[$0].kind }
        lengths = order.map { drafts[$0].length }
        wire = order.map { drafts[$0].wire }
        var folded: [UInt8] = []
        folded.reserveCapacity(texts.count)
        foldedEnds = order.map { index in
            folded.append(contentsOf: texts[drafts[index].folded])
            return UInt32(folded.count)
        }
        self.folded = folded
        var numbers = [UInt32](repeating: 0, count: drafts.count)
        for (number, index) in order.enumerated() { numbers[index] = UInt32(number) }
        byHash = ids.mapValues { numbers[$0] }
        var categories: [String: [UInt32]] = [:]
        for (number, index) in order.enumerated() {
            for name in drafts[index].categories { categories[name, default: []].append(UInt32(number)) }
        }
        self.categories = categories
    }
}

extension Fact {
    /// The first part of the order of searches, from the largest on.
    fileprivate var searchDate: Int64 { createdAt?.seconds ?? .min }
}

extension RandomAccessCollection where Index == Int {
    /// The position of the first element for which the condition is true; it is true for all later elements.
    fileprivate func partitioningIndex(_ condition: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
