import CLinux
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

    /// A page of a search.
    package struct Page: Sendable {
        package fileprivate(set) var numbers: [UInt32] = []
        /// The number of all matching facts; nil if it exceeds ``countedMatches``.
        package fileprivate(set) var total: Int?
        /// The cursor of the next page.
        package fileprivate(set) var next: String?

        package init() {}
    }

    /// The bytes of text that a search may read on the event loop, a few milliseconds.
    package static let shortSearch = 32 << 20

    /// The facts that contain all words of a query.
    ///
    /// - Parameters:
    ///   - key: the key of the cursors.
    ///   - effort: the bytes of text that may be read, roughly.
    /// - Returns: nil if the search would take more effort.
    /// - Throws: `-32602` for a cursor of another search.
    package func page(
        _ query: FactQuery, _ request: PageRequest, key: UInt64, effort: Int = .max
    ) throws(ResponseError) -> Page? {
        var first = 0
        if let cursor = request.cursor {
            let cursor = try SealedCursor(cursor, of: query.list, key: key)
            // The fact of the cursor may have gone.
            first = (0..<count).partitioningIndex { number in
                let (date, id) = position(UInt32(number))
                return date == cursor.number
                    ? cursor.text.utf8.lexicographicallyPrecedes(id.utf8) : date < cursor.number
            }
        }
        // The longest word is usually the rarest.
        let words = query.words.map { Array($0.utf8) }.sorted { $0.count > $1.count }
        guard folded.count <= effort else { return nil }
        var page = Page()
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
            hasMore = page.numbers.count == request.limit || bytes > maximumPageBytes && !page.numbers.isEmpty
            if !hasMore { page.numbers.append(number) }
        }
        if counted <= countedMatches { page.total = counted }
        if hasMore, let last = page.numbers.last {
            let (date, id) = position(last)
            page.next = SealedCursor(number: date, text: id).sealed(for: query.list, key: key)
        }
        return page
    }

    /// The position of a fact in the order of searches.
    private func position(_ number: UInt32) -> (date: Int64, id: String) {
        let fact = fact(number)
        return (fact.createdAt?.seconds ?? .min, fact.id)
    }

    /// The position of a word in a part of the folded texts.
    private func position(of word: [UInt8], _ part: Range<Int>) -> Int? {
        folded.withUnsafeBytes { texts in
            guard let base = texts.baseAddress else { return nil }
            return word.withUnsafeBytes {
                memmem(base + part.lowerBound, part.count, $0.baseAddress, $0.count).map { UnsafeRawPointer($0) - base }
            }
        }
    }

    // MARK: Building

    fileprivate init(
        _ drafts: borrowing [Draft], wire source: UnsafeRawBufferPointer, folded texts: [UInt8], leftOut: Int
    ) {
        version = FactCatalogue.versions.add(1, ordering: .relaxed).newValue
        self.leftOut = leftOut
        upstreamCount = drafts.count { !$0.kind.isLocal }
        (hashes, kinds, lengths) = (drafts.map { $0.hash }, drafts.map { $0.kind }, drafts.map { $0.length })
        (wire, wireEnds) = FactCatalogue.joined(drafts.map { $0.wire }, of: source)
        (folded, foldedEnds) = texts.withUnsafeBytes { FactCatalogue.joined(drafts.map { $0.folded }, of: $0) }
        byHash = hashes.indices.sorted { [hashes] in hashes[$0] < hashes[$1] }.map { UInt32($0) }
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
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: source[part]))
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
        private var json: JSONWriter
        private var folded: [UInt8] = []
        private var hashes: Set<UInt64> = []
        /// The index in ``drafts`` of each text, by a hash of the text.
        private var texts: [UInt64: Int] = [:]
        private var textBytes = 0
        private var leftOut: Int
        /// Most facts of the upstream have the same times.
        private var lastTime = (time: Timestamp(seconds: 0), text: Timestamp(seconds: 0).description)

        /// - Parameters:
        ///   - leftOut: the number of facts that the caller has left out.
        ///   - capacity: the expected bytes of all facts. Unused memory costs nothing.
        package init(leftOut: Int = 0, capacity: Int = 0) {
            self.leftOut = leftOut
            json = JSONWriter(capacity: 2 * capacity + 512)
            folded.reserveCapacity(capacity)
        }

        package mutating func add(_ fact: Fact) {
            let hash = FactCatalogue.hash(of: fact.id)
            let textHash = SipHash.hash(fact.text, key: (1, 0))
            if let index = texts[textHash] {
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
            texts[textHash] = drafts.count
            let start = folded.count
            appendSearchable(fact.text, to: &folded)
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
            // By hand, because the generic `encode` takes half of the time of a start with many facts.
            json.beginObject()
            json.key("id")
            let id = json.count + 1
            json.string(fact.id)
            let idEnd = json.count - 1
            json.key("text")
            json.string(fact.text)
            json.key("categories")
            json.beginArray()
            for name in fact.categories { json.string(name) }
            json.endArray()
            json.key("source")
            json.string(fact.source)
            if let url = fact.url {
                json.key("url")
                json.string(url)
            }
            if let time = fact.createdAt {
                json.key("created_at")
                write(time)
            }
            if let time = fact.updatedAt {
                json.key("updated_at")
                write(time)
            }
            json.endObject()
            return (start..<json.count, id..<idEnd)
        }

        private mutating func write(_ time: Timestamp) {
            if lastTime.time != time { lastTime = (time, time.description) }
            json.string(lastTime.text)
        }

        package consuming func finish() -> FactCatalogue {
            var drafts = drafts
            self.drafts = []
            let (folded, leftOut) = (folded, leftOut)
            return json.withBytes { wire in
                drafts.sort { first, second in
                    guard first.createdAt == second.createdAt else { return first.createdAt > second.createdAt }
                    return wire[first.id].lexicographicallyPrecedes(wire[second.id])
                }
                return FactCatalogue(drafts, wire: wire, folded: folded, leftOut: leftOut)
            }
        }
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
