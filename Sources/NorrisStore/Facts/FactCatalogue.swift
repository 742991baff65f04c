import CLinux
import Glibc
package import NorrisProtocol
import NorrisText
import Synchronization

/// All facts that the daemon serves, immutable and in memory. A change of the facts makes a new catalogue.
///
/// A fact has a number, its position in the order of searches: newest `created_at` first, then the facts without a
/// date, then by the bytes of the id. A number is valid for one catalogue; ``hash(of:)`` of the id identifies a fact in
/// all of them.
package final class FactCatalogue: Sendable {
    /// The maximum number of facts, and the maximum bytes of their texts. Facts above a limit are left out.
    package static let maximumCount = 200_000  // Shuffle.Window stores numbers in 18 bits.
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
    /// The facts in wire form, one after another, and the end of each.
    private let wire: [UInt8]
    private let wireEnds: [UInt32]
    /// The texts as searches read them, each with a line feed, which no search contains; and the end of each.
    private let folded: [UInt8]
    private let foldedEnds: [UInt32]
    /// All numbers, by their hashes.
    private let byHash: [UInt32]
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
        let start = number == 0 ? 0 : Int(wireEnds[Int(number) - 1])
        let end = Int(wireEnds[Int(number)])
        return wire.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
    }

    package func fact(_ number: UInt32) -> Fact {
        // Not an error, because the builder has written the wire form.
        withFact(number) { (try? Fact(json: JSON.parse(Array($0)))) ?? Fact() }
    }

    /// The number of the fact with an id; nil if there is none.
    package func number(ofID id: String) -> UInt32? { number(ofHash: FactCatalogue.hash(of: id)) }

    func number(ofHash hash: UInt64) -> UInt32? {
        let index = byHash.partitioningIndex { hashes[Int($0)] >= hash }
        return index < byHash.count && hashes[Int(byHash[index])] == hash ? byHash[index] : nil
    }

    // MARK: Categories

    package func hasCategory(_ name: String) -> Bool { categories[name] != nil }

    /// The categories with facts, by name, without explicit facts.
    package func categories(of source: FactScope) -> [FactCategories.Category] {
        let shown = FactKind.set(of: source, allowsExplicit: false)
        return categories.compactMap { name, numbers in
            let count = numbers.count { shown.contains(kinds[Int($0)]) }
            return count > 0 ? FactCategories.Category(name: name, count: count) : nil
        }.sorted { $0.name < $1.name }
    }

    // MARK: Filters

    /// Whether a fact matches a filter.
    func matches(_ number: UInt32, _ filter: FactFilter) -> Bool {
        filter.kinds.contains(kinds[Int(number)]) && Int(lengths[Int(number)]) <= filter.maxLength ?? .max
            && (filter.categories.isEmpty
                || filter.categories.contains { name in
                    guard let numbers = categories[name] else { return false }
                    let index = numbers.partitioningIndex { $0 >= number }
                    return index < numbers.count && numbers[index] == number
                })
    }

    /// Calls the body with each fact of a group.
    func forEachFact(of group: FactGroup, _ body: (Fact) -> Void) {
        for (number, kind) in kinds.enumerated() where kind.group == group { body(fact(UInt32(number))) }
    }

    /// The numbers of the matching facts.
    package func numbers(_ filter: FactFilter) -> [UInt32] {
        var numbers: [UInt32] = []
        forEach(filter) { number, _ in numbers.append(number) }
        return numbers
    }

    var hasFortunes: Bool { kinds.contains { $0.group == .fortune } }

    /// Calls the body with the number and the hash of each fact that matches a filter, with a fact of several of the
    /// filter's categories several times. The time is proportional to the number of facts.
    @inline(__always) func forEach(_ filter: FactFilter, _ body: (_ number: UInt32, _ hash: UInt64) -> Void) {
        let shown = filter.kinds
        let maxLength = UInt16(clamping: filter.maxLength ?? .max)
        kinds.withUnsafeBufferPointer { kinds in
            lengths.withUnsafeBufferPointer { lengths in
                hashes.withUnsafeBufferPointer { hashes in
                    func visit(_ index: Int) {
                        guard lengths[index] <= maxLength, shown.contains(kinds[index]) else { return }
                        body(UInt32(truncatingIfNeeded: index), hashes[index])
                    }
                    guard !filter.categories.isEmpty else { return hashes.indices.forEach(visit) }
                    for name in filter.categories { categories[name]?.forEach { visit(Int($0)) } }
                }
            }
        }
    }

    // MARK: Search

    /// A page of a search.
    package struct Page: Sendable {
        package fileprivate(set) var numbers: [UInt32] = []
        /// The number of all matching facts; nil if it exceeds ``countedMatches``.
        package fileprivate(set) var total: Int?
        fileprivate var hasMore = false
        /// The cursor of the next page.
        package fileprivate(set) var next: String?

        package init() {}
    }

    /// The bytes of text that a search may read before it returns nil, so that it takes a few milliseconds.
    package static let shortSearch = 32 << 20

    /// The facts that contain all words of a query.
    ///
    /// - Parameters:
    ///   - first: the smallest number of a fact in the result. Smaller numbers are only counted.
    ///   - effort: the bytes of text that may be read, roughly.
    /// - Returns: nil if the search would take more effort.
    private func search(_ query: FactQuery, from first: UInt32, limit: Int, effort: Int) -> Page? {
        // The longest word is usually the rarest.
        let words = query.words.map { Array($0.utf8) }.sorted { $0.count > $1.count }
        guard folded.count <= effort else { return nil }
        return folded.withUnsafeBytes { texts in
            var matches = Page()
            var (start, read, counted) = (0, 0, 0)
            while let found = FactCatalogue.find(words[0], in: texts, start..<texts.count) {
                let number = UInt32(foldedEnds.partitioningIndex { $0 > found })
                start = Int(foldedEnds[Int(number)])
                let text = (number == 0 ? 0 : Int(foldedEnds[Int(number) - 1]))..<start
                read += text.count * words.count
                guard read <= effort else { return nil }
                guard self.matches(number, query.filter),
                    words.dropFirst().allSatisfy({ FactCatalogue.find($0, in: texts, text) != nil })
                else { continue }
                counted += 1
                if number >= first {
                    matches.hasMore = matches.numbers.count == limit
                    if !matches.hasMore { matches.numbers.append(number) }
                }
                if counted > countedMatches, matches.hasMore { break }
            }
            if counted <= countedMatches { matches.total = counted }
            return matches
        }
    }

    /// The position of a word in a part of the texts.
    private static func find(_ word: [UInt8], in texts: UnsafeRawBufferPointer, _ part: Range<Int>) -> Int? {
        let part = UnsafeRawBufferPointer(rebasing: texts[part])
        guard let base = texts.baseAddress, let start = part.baseAddress else { return nil }
        let found = word.withUnsafeBytes { memmem(start, part.count, $0.baseAddress, $0.count) }
        return found.map { UnsafeRawPointer($0) - base }
    }

    /// A page of a search.
    ///
    /// - Parameter key: the key of the cursors.
    /// - Throws: `-32602` for a cursor of another search.
    package func page(
        _ query: FactQuery, cursor: String?, key: UInt64, limit: Int, effort: Int = .max
    ) throws(ResponseError) -> Page? {
        var first = 0
        if let cursor {
            let cursor = try SealedCursor(cursor, of: query.list, key: key)
            // The fact of the cursor may have gone.
            first = (0..<count).partitioningIndex { number in
                let fact = fact(UInt32(number))
                let date = fact.createdAt?.seconds ?? .min
                return date == cursor.number ? cursor.text.utf8.lexicographicallyPrecedes(fact.id.utf8) : date < cursor.number
            }
        }
        guard var matches = search(query, from: UInt32(first), limit: limit, effort: effort) else { return nil }
        var bytes = 0
        // As many as fit into a reply, but at least one.
        let fitting = matches.numbers.prefix { number in
            bytes += withFact(number, \.count)
            return bytes <= maximumPageBytes
        }
        if fitting.count < matches.numbers.count {
            matches.numbers = Array(matches.numbers.prefix(max(fitting.count, 1)))
            matches.hasMore = true
        }
        if matches.hasMore, let last = matches.numbers.last.map(fact) {
            let end = SealedCursor(number: last.createdAt?.seconds ?? .min, text: last.id)
            matches.next = end.sealed(for: query.list, key: key)
        }
        return matches
    }

    fileprivate init(_ drafts: borrowing [Draft], wire source: UnsafeRawBufferPointer, folded texts: [UInt8], leftOut: Int) {
        version = FactCatalogue.versions.add(1, ordering: .relaxed).newValue
        self.leftOut = leftOut
        upstreamCount = drafts.count { $0.kind.group == .upstream }
        (hashes, kinds, lengths) = (drafts.map(\.hash), drafts.map(\.kind), drafts.map(\.length))
        (wire, wireEnds) = FactCatalogue.joined(drafts.map(\.wire), of: source)
        (folded, foldedEnds) = texts.withUnsafeBytes { FactCatalogue.joined(drafts.map(\.folded), of: $0) }
        byHash = drafts.indices.sorted { drafts[$0].hash < drafts[$1].hash }.map(UInt32.init)
        var categories: [String: [UInt32]] = [:]
        for (number, draft) in drafts.enumerated() {
            for name in draft.categories { categories[name, default: []].append(UInt32(number)) }
        }
        self.categories = categories
    }

    /// Parts of a buffer one after another, and the end of each.
    private static func joined(
        _ parts: [Range<Int>], of source: UnsafeRawBufferPointer
    ) -> (bytes: [UInt8], ends: [UInt32]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(parts.reduce(0) { $0 + $1.count })
        // No overflow: the limit of the texts also limits the wire form, to a few hundred bytes more for each fact.
        let ends = parts.map { part in
            bytes.append(contentsOf: source[part])
            return UInt32(bytes.count)
        }
        return (bytes, ends)
    }

    /// A fact in a ``Builder``.
    fileprivate struct Draft {
        let hash: UInt64
        let createdAt: Int64
        /// The wire form, in the builder's output.
        var wire: Range<Int>
        /// The id in the wire form, without its quotes.
        var id: Range<Int>
        let folded: Range<Int>
        let length: UInt16
        var kind: FactKind
        var categories: [String]
    }

    /// Collects the facts of a catalogue. The facts that are added first have precedence.
    ///
    /// Of facts with equal ids the first is kept; of facts with equal texts too, with the categories of all facts of its
    /// group.
    package struct Builder: ~Copyable {
        private var drafts: [Draft] = []
        private var json = JSONWriter()
        private var folded: [UInt8] = []
        private var hashes: Set<UInt64> = []
        /// The index in ``drafts`` of each text, by a hash of the text.
        private var texts: [UInt64: Int] = [:]
        private var textBytes = 0
        private var leftOut: Int

        /// - Parameter leftOut: the number of facts that the caller has left out.
        package init(leftOut: Int = 0) { self.leftOut = leftOut }

        package mutating func add(_ fact: Fact) {
            let hash = FactCatalogue.hash(of: fact.id)
            let text = SipHash.hash(fact.text, key: (1, 0))
            if let index = texts[text] {
                if drafts[index].kind.group == FactGroup(source: fact.source) { merge(fact.categories, into: index) }
                return
            }
            guard !hashes.contains(hash) else { return }
            textBytes += fact.text.utf8.count
            guard drafts.count < maximumCount, textBytes <= maximumTextBytes else {
                textBytes -= fact.text.utf8.count
                leftOut += 1
                return
            }
            hashes.insert(hash)
            texts[text] = drafts.count
            let start = folded.count
            folded += searchable(fact.text).utf8
            folded.append(UInt8(ascii: "\n"))
            let (wire, id) = write(fact)
            drafts.append(
                Draft(
                    hash: hash, createdAt: fact.createdAt?.seconds ?? .min, wire: wire, id: id,
                    folded: start..<folded.count, length: UInt16(clamping: fact.length), kind: FactKind(fact),
                    categories: fact.categories))
        }

        /// Adds the categories of another fact with the same text.
        private mutating func merge(_ categories: [String], into index: Int) {
            let old = drafts[index].categories
            // An upstream controls the number of its categories; `explicit` is never dropped.
            let isFull = drafts[index].kind.group == .upstream && old.count >= Fact.maximumCategories
            let merged = old.adding(isFull ? categories.filter { $0 == Fact.explicitCategory } : categories)
            let wire = json.withBytes { Array($0[drafts[index].wire]) }
            guard merged.count > old.count, var fact = try? Fact(json: JSON.parse(wire)) else { return }
            fact.categories = merged
            (drafts[index].wire, drafts[index].id) = write(fact)
            (drafts[index].kind, drafts[index].categories) = (FactKind(fact), merged)
        }

        private mutating func write(_ fact: Fact) -> (wire: Range<Int>, id: Range<Int>) {
            // Without a comma before the fact.
            json.newline()
            let start = json.count
            json.string(fact.id)
            // A fact begins with `{"id":` and the id in quotes.
            let id = start + 7..<json.count + 5
            json.truncate(to: start)
            fact.encode(to: &json)
            return (start..<json.count, id)
        }

        package consuming func finish() -> FactCatalogue {
            var drafts = drafts
            self.drafts = []
            let (folded, leftOut) = (folded, leftOut)
            return json.withBytes { wire in
                drafts.sort { first, second in
                    guard first.createdAt == second.createdAt else { return first.createdAt > second.createdAt }
                    return wire[first.id].isBefore(wire[second.id])
                }
                return FactCatalogue(drafts, wire: wire, folded: folded, leftOut: leftOut)
            }
        }
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// Whether the bytes are before others in the order of memcmp(3).
    fileprivate func isBefore(_ other: Self) -> Bool {
        let (first, second) = (UnsafeRawBufferPointer(rebasing: self), UnsafeRawBufferPointer(rebasing: other))
        guard let left = first.baseAddress, let right = second.baseAddress else { return first.count < second.count }
        let order = memcmp(left, right, Swift.min(first.count, second.count))
        return order == 0 ? first.count < second.count : order < 0
    }
}

extension [String] {
    /// Appends the other categories that are missing, in their order.
    fileprivate func adding(_ others: [String]) -> [String] {
        others.reduce(into: self) { all, other in if !all.contains(other) { all.append(other) } }
    }
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
