import NorrisProtocol

/// The facts of one category and kind in the order of storage; a list that only grows.
///
/// Takes six bytes a fact in memory, and is read at its first use.
struct FactList {
    /// The number of entries of a list that are counted together for a maximum length.
    static let blockSize = 1_024
    /// The bit in a length that marks a removed fact. No fact is that long.
    private static let removed: UInt16 = 0x8000

    let name: FactListName
    /// Changes when removed entries are deleted, so that old positions are recognized.
    var epoch: UInt32
    /// The number of facts.
    var live: Int
    /// The number of stored entries, including removed ones.
    var storedCount: Int
    private(set) var isLoaded: Bool
    /// Rising.
    private var ordinals: [UInt32] = []
    /// In code points.
    private var lengths: [UInt16] = []

    init(name: FactListName, epoch: UInt32 = 0, live: Int = 0, storedCount: Int = 0) {
        self.name = name
        self.epoch = epoch
        self.live = live
        self.storedCount = storedCount
        isLoaded = storedCount == 0
    }

    /// The number of entries, including removed ones.
    var count: Int { isLoaded ? ordinals.count : storedCount }

    /// nil if the fact was removed. The list must be loaded.
    @inline(__always) func ordinal(at position: Int) -> UInt32? {
        lengths[position] & FactList.removed == 0 ? ordinals[position] : nil
    }

    /// Whether the list contains the fact.
    func contains(_ ordinal: UInt32) -> Bool {
        position(of: ordinal).map { lengths[$0] & FactList.removed == 0 } ?? false
    }

    private func position(of ordinal: UInt32) -> Int? {
        var (first, last) = (0, ordinals.count)
        while first < last {
            let middle = (first + last) / 2
            if ordinals[middle] < ordinal { first = middle + 1 } else { last = middle }
        }
        return first < ordinals.count && ordinals[first] == ordinal ? first : nil
    }

    /// The number of entries in a range up to a length, including removed entries, so that the counts of a segment
    /// never change.
    func count(in range: Range<Int>, upTo maxLength: Int) -> UInt32 {
        lengths.withUnsafeBufferPointer { lengths in
            var count: UInt32 = 0
            for position in range where lengths[position] & ~FactList.removed <= UInt16(clamping: maxLength) {
                count += 1
            }
            return count
        }
    }

    /// The position of the nth entry up to a length, from a position on.
    func position(ofShort number: UInt32, from start: Int, upTo maxLength: Int) -> Int {
        var (rest, position) = (number, start)
        // Counting 64 entries is much faster than testing each.
        while position + 64 <= lengths.count {
            let count = count(in: position..<position + 64, upTo: maxLength)
            if rest < count { break }
            rest -= count
            position += 64
        }
        while true {
            if lengths[position] & ~FactList.removed <= UInt16(clamping: maxLength) {
                if rest == 0 { return position }
                rest -= 1
            }
            position += 1
        }
    }

    /// Appends an entry, unless the list contains it or is not loaded.
    mutating func append(_ ordinal: UInt32, length: Int, isRemoved: Bool = false) {
        guard isLoaded, ordinal > ordinals.last ?? 0 else { return }
        ordinals.append(ordinal)
        lengths.append(UInt16(clamping: length) & ~FactList.removed | (isRemoved ? FactList.removed : 0))
    }

    mutating func remove(_ ordinal: UInt32) {
        if let position = position(of: ordinal) { lengths[position] |= FactList.removed }
    }

    /// Replaces the entries by entries that were read from disk.
    mutating func load(_ other: FactList) {
        guard !isLoaded else { return }
        (ordinals, lengths, isLoaded) = (other.ordinals, other.lengths, true)
    }

    /// Drops the entries, which are read again on demand.
    mutating func unload() { (ordinals, lengths, isLoaded) = ([], [], storedCount == 0) }

    /// Reserves memory, so that many small additions do not copy the list many times.
    mutating func reserve(_ more: Int) {
        guard isLoaded, ordinals.count + more > ordinals.capacity else { return }
        ordinals.reserveCapacity(max(ordinals.count + more, ordinals.count * 3 / 2))
        lengths.reserveCapacity(max(ordinals.count + more, ordinals.count * 3 / 2))
    }
}

/// The epoch of a list in a column. Above 0, because 0 is the epoch of a list that is not stored.
struct Epoch: ColumnInteger {
    static let columnRange: ClosedRange<Int64> = 1...Int64(UInt32.max)
    let number: UInt32
    var columnValue: Int64 { Int64(number) }
    init(columnValue: Int64) { number = UInt32(truncatingIfNeeded: columnValue) }
}

/// All lists, and the number of facts.
struct FactIndex {
    private(set) var lists: [FactList] = []
    private var positions: [FactListName: Int] = [:]
    /// The number of facts from an upstream.
    var upstreamCount = 0

    /// The number of facts.
    var count: Int { count(of: "", .all, allowsExplicit: true) }

    /// The categories with facts of a source, without explicit facts, by name.
    func categories(of source: FactScope) -> [FactCategories.Category] {
        var counts: [String: Int] = [:]
        let kinds = source.kinds(allowsExplicit: false)
        for list in lists where list.live > 0 && !list.name.category.isEmpty && kinds.contains(list.name.kind) {
            counts[list.name.category, default: 0] += list.live
        }
        return counts.map { FactCategories.Category(name: $0, count: $1) }.sorted { $0.name < $1.name }
    }

    /// Whether any stored fact has the category.
    func hasCategory(_ name: String) -> Bool { count(of: name, .all, allowsExplicit: true) > 0 }

    func count(of category: String, _ source: FactScope, allowsExplicit: Bool) -> Int {
        source.kinds(allowsExplicit: allowsExplicit).reduce(0) { sum, kind in
            sum + (positions[FactListName(category: category, kind: kind)].map { lists[$0].live } ?? 0)
        }
    }

    /// The constant position of a list in ``lists``; a missing list is added.
    mutating func position(of name: FactListName) -> Int {
        if let position = positions[name] { return position }
        positions[name] = lists.count
        lists.append(FactList(name: name))
        return lists.count - 1
    }

    func list(_ name: FactListName) -> FactList? { positions[name].map { lists[$0] } }

    /// The first of the lists that is not in memory.
    func missing(_ positions: [Int]) -> FactListName? {
        positions.first { !lists[$0].isLoaded }.map { lists[$0].name }
    }

    mutating func update(_ name: FactListName, _ body: (inout FactList) -> Void) { body(&lists[position(of: name)]) }

    /// Records that a fact was removed.
    mutating func remove(_ ordinal: UInt32) {
        for position in lists.indices { lists[position].remove(ordinal) }
    }

    /// Applies the changes of an import.
    mutating func apply(_ changes: FactChanges) {
        for (name, entries) in changes.addedEntries {
            update(name) { list in
                list.reserve(entries.count)
                for entry in entries { list.append(entry.ordinal, length: entry.length) }
            }
        }
        for (name, ordinals) in changes.removedEntries {
            update(name) { list in ordinals.forEach { list.remove($0) } }
        }
        for (name, state) in changes.lists {
            update(name) { list in
                (list.live, list.storedCount) = (state.live, state.count)
                guard list.epoch != state.epoch || state.count == 0 else { return }
                // A new list has only the new entries; of an existing list the removed entries were deleted.
                if list.epoch != 0 || state.count == 0 { list.unload() }
                list.epoch = state.epoch
            }
        }
        upstreamCount += changes.upstreamDifference
    }
}
