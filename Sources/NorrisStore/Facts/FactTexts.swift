import Glibc
import NorrisText

/// The texts of facts for searches: consecutive blocks of case-folded texts in `fact_texts`.
///
/// Reading 100,000 facts takes eight milliseconds for any query. An index of trigrams takes three times as long to
/// write as everything else, twice the disk space, and cannot find two letters.
///
/// The key of a block is its highest ordinal. For each fact a block contains, with little-endian words of 32 bits: the
/// ordinal, the kind in the lowest byte and the number of lists above, the length of the text, the lists, the text.
struct FactTexts {
    /// The bytes at which a block is written. Texts are added to a block smaller than half of it.
    private static let blockBytes = 32 << 10

    /// A fact in a block. The bytes are valid as long as the block.
    struct Entry {
        let ordinal: UInt32
        let kind: FactKind
        let lists: UnsafeRawBufferPointer
        let text: UnsafeRawBufferPointer

        /// Whether the fact is in any of these lists.
        func isOnAny(of numbers: [UInt32]) -> Bool {
            stride(from: 0, to: lists.count, by: 4).contains { offset in
                numbers.contains(UInt32(littleEndian: lists.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
            }
        }
    }

    private var added: [(ordinal: UInt32, bytes: [UInt8])] = []
    private var removed: Set<UInt32> = []

    mutating func append(_ text: String, _ ordinal: UInt32, _ kind: FactKind, lists: [SequenceNumber]) {
        let text = Array(searchable(text).utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(12 + 4 * lists.count + text.count)
        let words = [ordinal, UInt32(kind.rawValue) | UInt32(lists.count) << 8, UInt32(text.count)]
        for word in words + lists.map({ UInt32(truncatingIfNeeded: $0.columnValue) }) {
            withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
        }
        added.append((ordinal, bytes + text))
    }

    mutating func remove(_ ordinal: UInt32) { removed.insert(ordinal) }

    /// Calls the body with each fact of a block, in the order of storage.
    ///
    /// - Throws: for a damaged block.
    static func forEach(in block: UnsafeRawBufferPointer, _ body: (Entry) throws -> Void) throws {
        var rest = block
        var last: UInt32 = 0
        while !rest.isEmpty {
            guard rest.count >= 12 else { throw DatabaseError.damaged("a block of fact_texts ends in an entry") }
            func word(_ index: Int) -> UInt32 {
                UInt32(littleEndian: rest.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
            }
            let (lists, length) = (Int(word(1) >> 8), Int(word(2)))
            guard let kind = FactKind(rawValue: UInt8(truncatingIfNeeded: word(1))), word(0) > last,
                12 + 4 * lists + length <= rest.count
            else { throw DatabaseError.damaged("a block of fact_texts has an entry that does not fit") }
            last = word(0)
            let text = 12 + 4 * lists
            try body(
                Entry(
                    ordinal: word(0), kind: kind, lists: UnsafeRawBufferPointer(rebasing: rest[12..<text]),
                    text: UnsafeRawBufferPointer(rebasing: rest[text..<text + length])))
            rest = UnsafeRawBufferPointer(rebasing: rest[(text + length)...])
        }
    }

    /// Updates the blocks.
    mutating func write(_ database: Database) throws {
        added.removeAll { removed.remove($0.ordinal) != nil }
        try removeStored(database)
        guard !added.isEmpty else { return }
        var block: [UInt8] = []
        let last = try database.first(
            "SELECT last, texts FROM fact_texts WHERE last = (SELECT max(last) FROM fact_texts) AND length(texts) < ?",
            [FactTexts.blockBytes / 2]
        ) { (number: $0[0] as Ordinal, texts: $0[1] as [UInt8]) }
        if let last {
            block = last.texts
            try database.execute("DELETE FROM fact_texts WHERE last = ?", [last.number])
        }
        for (index, entry) in added.enumerated() {
            block += entry.bytes
            guard block.count >= FactTexts.blockBytes || index == added.count - 1 else { continue }
            try FactTexts.write(block, last: Ordinal(columnValue: Int64(entry.ordinal)), database)
            block.removeAll(keepingCapacity: true)
        }
    }

    private func removeStored(_ database: Database) throws {
        var rest = removed.sorted()[...]
        while let first = rest.first {
            let row = try database.first(
                "SELECT last, texts FROM fact_texts WHERE last >= ? ORDER BY last LIMIT 1", [Int(first)]
            ) { ($0[0] as Ordinal, $0[1] as [UInt8]) }
            guard let (last, old) = row else { return }
            var kept: [UInt8] = []
            try old.withUnsafeBytes { old in
                try FactTexts.forEach(in: old) { entry in
                    guard !removed.contains(entry.ordinal), let base = old.baseAddress,
                        let text = entry.text.baseAddress
                    else { return }
                    // The words and the lists precede the text.
                    let start = text - base - entry.lists.count - 12
                    kept += old[start..<(text - base) + entry.text.count]
                }
            }
            try FactTexts.write(kept, last: last, database)
            rest = rest.drop { $0 <= last.number }
        }
    }

    private static func write(_ block: [UInt8], last: Ordinal, _ database: Database) throws {
        if block.isEmpty {
            try database.execute("DELETE FROM fact_texts WHERE last = ?", [last])
        } else {
            try database.execute("REPLACE INTO fact_texts (last, texts) VALUES (?, ?)", [last, block])
        }
    }
}
