import NorrisProtocol

/// The facts of one category and kind, in the order they were stored: a list that only grows.
///
/// In memory it takes six bytes a fact; it is read when it is first needed.
struct FactList {
    /// How many entries of a list are counted together for a maximum length.
    static let blockSize = 1_024
    /// The bit of a length for a removed fact. No fact is that long.
    private static let removed: UInt16 = 0x8000

    let name: FactListName
    /// Changes whenever removed entries are deleted, so that positions before are not taken for positions after.
    var epoch: UInt32
    /// How many facts it has.
    var live: Int
    /// How many entries it has on the disk, removed ones counted.
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

    /// How many entries it has, removed ones counted.
    var count: Int { isLoaded ? ordinals.count : storedCount }

    /// nil where the fact was removed. The list is loaded.
    @inline(__always) func ordinal(at position: Int) -> UInt32? {
        lengths[position] & FactList.removed == 0 ? ordinals[position] : nil
    }

    /// Whether the fact is on the list and was not removed.
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

    /// How many entries of a range are at most so long, removed ones counted: the counts of a segment never change.
    func count(in range: Range<Int>, upTo maxLength: Int) -> UInt32 {
        lengths.withUnsafeBufferPointer { lengths in
            var count: UInt32 = 0
            for position in range where lengths[position] & ~FactList.removed <= UInt16(clamping: maxLength) {
                count += 1
            }
            return count
        }
    }

    /// The position of the nth entry from a position on that is at most so long.
    func position(ofShort number: UInt32, from start: Int, upTo maxLength: Int) -> Int {
        var (rest, position) = (number, start)
        // Counting takes a fraction of looking at each.
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

    /// Adds an entry, unless the list has it or is not loaded.
    mutating func append(_ ordinal: UInt32, length: Int, isRemoved: Bool = false) {
        guard isLoaded, ordinal > ordinals.last ?? 0 else { return }
        ordinals.append(ordinal)
        lengths.append(UInt16(clamping: length) & ~FactList.removed | (isRemoved ? FactList.removed : 0))
    }

    mutating func remove(_ ordinal: UInt32) {
        if let position = position(of: ordinal) { lengths[position] |= FactList.removed }
    }

    /// Takes over entries that were read from the disk while the list was not loaded.
    mutating func load(_ other: FactList) {
        guard !isLoaded else { return }
        (ordinals, lengths, isLoaded) = (other.ordinals, other.lengths, true)
    }

    /// Drops the entries; they are read again when they are needed.
    mutating func unload() { (ordinals, lengths, isLoaded) = ([], [], storedCount == 0) }

    /// Reserves memory, so that many small additions do not copy everything many times.
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

/// All lists, and the numbers of facts.
struct FactIndex {
    private(set) var lists: [FactList] = []
    private var positions: [FactListName: Int] = [:]
    /// How many facts are from an upstream.
    var upstreamCount = 0

    /// How many facts there are.
    var count: Int { count(of: "", .all, allowsExplicit: true) }

    /// The categories that have facts of a source, explicit facts not counted, by name.
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

    /// The position of a list in ``lists``, which never changes; where there is none, it is added.
    mutating func position(of name: FactListName) -> Int {
        if let position = positions[name] { return position }
        positions[name] = lists.count
        lists.append(FactList(name: name))
        return lists.count - 1
    }

    func list(_ name: FactListName) -> FactList? { positions[name].map { lists[$0] } }

    /// The first of some lists that is not in memory.
    func missing(_ positions: [Int]) -> FactListName? {
        positions.first { !lists[$0].isLoaded }.map { lists[$0].name }
    }

    mutating func update(_ name: FactListName, _ body: (inout FactList) -> Void) { body(&lists[position(of: name)]) }

    /// Notes that a fact was removed.
    mutating func remove(_ ordinal: UInt32) {
        for position in lists.indices { lists[position].remove(ordinal) }
    }

    /// Applies what an import has changed on the disk.
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
                // A new list has only the entries above; of any other the removed entries were deleted.
                if list.epoch != 0 || state.count == 0 { list.unload() }
                list.epoch = state.epoch
            }
        }
        upstreamCount += changes.upstreamDifference
    }
}
