package import NorrisProtocol
import NorrisText

/// A fact whose texts are UTF-8 in memory of the caller, because strings double the time of reading many facts.
struct FactBytes {
    let id: UnsafeRawBufferPointer
    let text: UnsafeRawBufferPointer
    /// Empty for none.
    let url: UnsafeRawBufferPointer
    let categories: [String]
    let source: String
    let createdAt: Timestamp?
    let updatedAt: Timestamp?

    /// Whether all texts are printable ASCII and line breaks, which is valid UTF-8 and safe to show.
    var isPlain: Bool {
        [id, text, url].allSatisfy { bytes in
            // Without branches, so that the compiler uses vector instructions.
            bytes.reduce(UInt8(0)) { $0 | ($1 &- 0x20 < 0x5F ? 0 : 1) & ($1 == UInt8(ascii: "\n") ? 0 : 1) } == 0
        }
    }

    /// Calls the body with the bytes of a fact.
    static func of(_ fact: Fact, _ body: (FactBytes) -> Void) {
        var (id, text, url) = (fact.id, fact.text, fact.url ?? "")
        id.withUTF8 { id in
            text.withUTF8 { text in
                url.withUTF8 { url in
                    body(
                        FactBytes(
                            id: UnsafeRawBufferPointer(id), text: UnsafeRawBufferPointer(text),
                            url: UnsafeRawBufferPointer(url), categories: fact.categories, source: fact.source,
                            createdAt: fact.createdAt, updatedAt: fact.updatedAt))
                }
            }
        }
    }
}

/// A fact of a ``FactCatalogue`` that is being built.
struct FactDraft {
    let hash: UInt64
    let createdAt: Int64
    /// The wire form, in the builder's output. The limit of the texts also limits the wire form, to a few hundred bytes
    /// more for each fact.
    fileprivate(set) var wire: Range<UInt32>
    /// The length of the id in the wire form, without its quotes.
    fileprivate let idLength: Int
    let folded: Range<Int>
    let length: UInt16
    fileprivate(set) var kind: FactKind
    fileprivate(set) var categories: [String]

    /// The wire form begins with the id.
    fileprivate static let start: StaticString = "{\"id\":"
    fileprivate var idInWire: Range<Int> {
        let start = Int(wire.lowerBound) + FactDraft.start.utf8CodeUnitCount + 1
        return start..<start + idLength
    }
}

extension FactCatalogue {
    /// Collects the facts of a catalogue. The facts that are added first have precedence.
    ///
    /// Of facts with equal ids the first is kept; of facts with equal texts too, with the categories of all facts of
    /// its group.
    package struct Builder: ~Copyable {
        private var drafts: [FactDraft] = []
        /// The index in ``drafts`` of each id, by its hash.
        private var ids: [UInt64: Int] = [:]
        /// The index in ``drafts`` of each text, by a hash of the text.
        private var texts: [UInt64: Int] = [:]
        private var json: JSONWriter
        private var folded: [UInt8] = []
        private var textBytes = 0
        private var leftOut: Int
        /// Most facts of the upstream have the same times.
        private var lastTime = (time: Timestamp(seconds: 0), text: Timestamp(seconds: 0).description)

        /// - Parameters:
        ///   - leftOut: the number of facts that the caller has left out.
        ///   - capacity: the expected bytes of all facts, of which ``FactCatalogue/maximumTextBytes`` are reserved.
        package init(leftOut: Int = 0, capacity: Int = 0) {
            self.leftOut = leftOut
            // Posts and GIFs are in the same file as the facts, so the file can be far larger than the facts.
            let capacity = min(capacity, maximumTextBytes)
            json = JSONWriter(capacity: 2 * capacity + 512)
            folded.reserveCapacity(capacity)
            // A fact of api.chucknorris.io takes some 250 bytes in a database.
            let count = min(capacity / 256, maximumCount)
            drafts.reserveCapacity(count)
            ids.reserveCapacity(count)
            texts.reserveCapacity(count)
        }

        package mutating func add(_ fact: Fact) { FactBytes.of(fact) { add($0) } }

        mutating func add(_ fact: FactBytes) {
            let group = FactGroup(source: fact.source)
            let hash = SipHash.hash(fact.id)
            let textHash = SipHash.hash(fact.text, key: (1, 0))
            if let index = texts[textHash] {
                if drafts[index].kind.group == group { merge(fact.categories, into: index) }
                return
            }
            guard ids[hash] == nil else { return }
            guard drafts.count < maximumCount, textBytes + fact.text.count <= maximumTextBytes else {
                leftOut += 1
                return
            }
            textBytes += fact.text.count
            ids[hash] = drafts.count
            texts[textHash] = drafts.count
            let start = folded.count
            let length = appendSearchable(fact.text, to: &folded)
            folded.append(UInt8(ascii: "\n"))
            let (wire, idLength) = write(fact)
            drafts.append(
                FactDraft(
                    hash: hash, createdAt: fact.createdAt?.seconds ?? .min, wire: wire, idLength: idLength,
                    folded: start..<folded.count, length: UInt16(clamping: length),
                    kind: FactKind(group, fact.categories), categories: fact.categories))
        }

        /// Adds the categories of another fact with the same text.
        private mutating func merge(_ categories: [String], into index: Int) {
            let old = drafts[index].categories
            // An upstream controls the number of its categories; `explicit` is never dropped.
            let isFull = drafts[index].kind.group == .upstream && old.count >= Fact.maximumCategories
            let merged = old.adding(isFull ? categories.filter { $0 == Fact.explicitCategory } : categories)
            let range = drafts[index].wire
            let wire = json.withBytes(in: Int(range.lowerBound)..<Int(range.upperBound)) { Array($0) }
            guard merged.count > old.count, var fact = try? Fact(parsing: wire) else { return }
            fact.categories = merged
            FactBytes.of(fact) { drafts[index].wire = write($0).wire }
            (drafts[index].kind, drafts[index].categories) = (FactKind(drafts[index].kind.group, merged), merged)
        }

        private mutating func write(_ fact: FactBytes) -> (wire: Range<UInt32>, idLength: Int) {
            // Without a comma before the fact.
            json.newline()
            let start = json.count
            // By hand, because the generic `encode` takes half of the time of a start with many facts.
            json.literal(FactDraft.start)
            let id = json.count
            json.string(utf8: fact.id)
            let idLength = json.count - id - 2
            json.join(",\"text\":")
            json.string(utf8: fact.text)
            json.join(",\"categories\":[")
            for name in fact.categories { json.string(name) }
            json.join("],\"source\":")
            json.string(fact.source)
            if !fact.url.isEmpty {
                json.join(",\"url\":")
                json.string(utf8: fact.url)
            }
            if let time = fact.createdAt {
                json.join(",\"created_at\":")
                write(time)
            }
            if let time = fact.updatedAt {
                json.join(",\"updated_at\":")
                write(time)
            }
            json.endObject()
            return (UInt32(start)..<UInt32(json.count), idLength)
        }

        private mutating func write(_ time: Timestamp) {
            if lastTime.time != time { lastTime = (time, time.description) }
            json.string(lastTime.text)
        }

        package consuming func finish() -> FactCatalogue {
            let (drafts, ids) = (drafts, ids)
            let order = json.withBytes { wire in
                drafts.indices.sorted { first, second in
                    let (time, other) = (drafts[first].createdAt, drafts[second].createdAt)
                    guard time == other else { return time > other }
                    return wire[drafts[first].idInWire].lexicographicallyPrecedes(wire[drafts[second].idInWire])
                }
            }
            return FactCatalogue(drafts, ids, in: order, json: json, folded: folded, leftOut: leftOut)
        }
    }
}

extension [String] {
    /// Appends the other categories that are missing, in their order.
    fileprivate func adding(_ others: [String]) -> [String] {
        others.reduce(into: self) { all, other in if !all.contains(other) { all.append(other) } }
    }
}
