import NorrisSystem

/// A shuffle of a user, which serves every matching fact once before it repeats any fact.
///
/// A cycle contains every entry of the filter's lists once, in segments: the first segment contains the entries that
/// exist at the beginning, and each later segment the entries that were added during the segment before. The order in a
/// segment is a ``KeyedPermutation``, and the cursor counts.
///
/// A draw takes a few steps, and one step for each removed fact; with a maximum length also a binary search over blocks
/// of ``FactList/blockSize`` entries.
struct Shuffle: Equatable {
    /// The part of a list in a segment: the entries from `low` to `high`.
    struct Bounds: Equatable {
        var low: UInt32 = 0
        var high: UInt32 = 0
        /// The list's ``FactList/epoch``.
        var epoch: UInt32 = 0
    }

    /// The key of this segment; the next segment's key is derived from it.
    private(set) var key: UInt64
    /// The number of drawn entries of the segment.
    private(set) var cursor: UInt32 = 0
    /// One for each list of the filter, in order.
    private(set) var bounds: [Bounds]
    /// The ordinals that this cycle skipped, because the same reply contains them from the previous cycle. At most as
    /// many as facts in a reply.
    private(set) var deferred: [UInt32] = []
    /// The last served ordinal, so that a new cycle does not begin with it.
    private(set) var last: UInt32?

    /// The maximum number of ordinals after the bounds of a stored shuffle, more than two replies of 100 facts.
    private static let maximumDeferred = 1_024

    /// The entries of the segment that are short enough; empty without a maximum length. Computed at the beginning of a
    /// segment.
    private var selections: [LengthSelection] = []
    /// The number of matching entries of each list in the segment.
    private var counts: [UInt32] = []
    private var permutation: KeyedPermutation
    /// The filter's lists, as positions in ``FactIndex/lists``.
    private let lists: [Int]

    init(key: UInt64, lists: [Int]) {
        self.key = key
        self.lists = lists
        bounds = Array(repeating: Bounds(), count: lists.count)
        permutation = KeyedPermutation(count: 0, key: key)
    }

    /// Prepares a stored shuffle for its lists; a cycle over changed lists restarts.
    mutating func attach(to index: FactIndex, _ maxLength: Int?) {
        var isSame = true
        for (slot, bounds) in bounds.enumerated() {
            let list = index.lists[lists[slot]]
            isSame = isSame && (bounds.high == 0 || bounds.epoch == list.epoch) && bounds.high <= list.count
        }
        if !isSame { restart() }
        prepareSegment(index, maxLength)
        if cursor > permutation.count {
            restart()
            prepareSegment(index, maxLength)
        }
    }

    /// The ordinal of the next fact; nil if the reply already contains all matching facts.
    ///
    /// - Parameter served: the ordinals in the reply.
    mutating func next(from index: FactIndex, _ maxLength: Int?, without served: [UInt32] = []) -> UInt32? {
        for slot in bounds.indices where bounds[slot].high > 0 && bounds[slot].epoch != index.lists[lists[slot]].epoch {
            restart()
            prepareSegment(index, maxLength)
            break
        }
        if let ordinal = nextInCycle(index, maxLength, served) { return ordinal }
        // The cycle has ended, except for facts that the reply contains from the previous cycle. If nothing else
        // matches, the reply contains everything.
        guard !deferred.contains(where: { contains($0, index) }), lists.contains(where: { index.lists[$0].live > 0 })
        else { return nil }
        let end = self
        restart()
        prepareSegment(index, maxLength)
        if let ordinal = nextInCycle(index, maxLength, served) { return ordinal }
        self = end
        return nil
    }

    private mutating func nextInCycle(_ index: FactIndex, _ maxLength: Int?, _ served: [UInt32]) -> UInt32? {
        repeat {
            while cursor < permutation.count {
                let number = permutation(cursor)
                cursor += 1
                guard let ordinal = ordinal(number, index, maxLength) else { continue }
                // An ordinal occurs once in a cycle, so the last ordinal can only be the first of the next cycle.
                if ordinal == last || served.contains(ordinal) {
                    deferred.append(ordinal)
                    continue
                }
                last = ordinal
                return ordinal
            }
        } while beginSegment(index, maxLength)
        guard let index = deferred.firstIndex(where: { !served.contains($0) && contains($0, index) }) else {
            return nil
        }
        last = deferred.remove(at: index)
        return last
    }

    /// The ordinal of an entry of the segment; nil if the fact was removed, or is also in an earlier list.
    @inline(__always) private func ordinal(_ number: UInt32, _ index: FactIndex, _ maxLength: Int?) -> UInt32? {
        var number = number
        var slot = 0
        while number >= counts[slot] {
            number -= counts[slot]
            slot += 1
        }
        let list = lists[slot]
        let position =
            if let maxLength {
                selections[slot].position(number, in: index.lists[list], low: bounds[slot].low, upTo: maxLength)
            } else {
                bounds[slot].low + number
            }
        guard let ordinal = index.lists[list].ordinal(at: Int(position)) else { return nil }
        return slot > 0 && lists[..<slot].contains(where: { index.lists[$0].contains(ordinal) }) ? nil : ordinal
    }

    private func contains(_ ordinal: UInt32, _ index: FactIndex) -> Bool {
        lists.contains { index.lists[$0].contains(ordinal) }
    }

    /// Continues with the entries that were added since the segment began. Returns false if there are none.
    private mutating func beginSegment(_ index: FactIndex, _ maxLength: Int?) -> Bool {
        guard bounds.indices.contains(where: { index.lists[lists[$0]].count > bounds[$0].high }) else { return false }
        for slot in bounds.indices {
            let list = index.lists[lists[slot]]
            bounds[slot] = Bounds(low: bounds[slot].high, high: UInt32(list.count), epoch: list.epoch)
        }
        cursor = 0
        key = mix(key)
        prepareSegment(index, maxLength)
        return true
    }

    /// Begins a cycle; the next segment contains all entries.
    private mutating func restart() {
        for slot in bounds.indices { bounds[slot] = Bounds() }
        deferred = []
        cursor = 0
        key = mix(key)
    }

    private mutating func prepareSegment(_ index: FactIndex, _ maxLength: Int?) {
        if let maxLength {
            selections = bounds.enumerated().map { slot, bounds in
                LengthSelection(of: index.lists[lists[slot]], from: bounds.low, to: bounds.high, upTo: maxLength)
            }
            counts = selections.map(\.count)
        } else {
            counts = bounds.map { $0.high - $0.low }
        }
        permutation = KeyedPermutation(count: counts.reduce(0, &+), key: key)
    }
}

/// The cumulative number of short entries in each block of a list, which finds the nth short entry in O(log n).
struct LengthSelection: Equatable {
    /// The number of short entries in all blocks up to each block.
    private var sums: [UInt32] = []
    var count: UInt32 { sums.last ?? 0 }

    init(of list: FactList, from low: UInt32, to high: UInt32, upTo maxLength: Int) {
        sums.reserveCapacity(Int(high - low) / FactList.blockSize + 1)
        var sum: UInt32 = 0
        for start in stride(from: Int(low), to: Int(high), by: FactList.blockSize) {
            let end = min(start + FactList.blockSize, Int(high))
            sum += list.count(in: start..<end, upTo: maxLength)
            sums.append(sum)
        }
    }

    /// The position of the nth short entry.
    ///
    /// - Precondition: `number` is less than ``count``.
    func position(_ number: UInt32, in list: FactList, low: UInt32, upTo maxLength: Int) -> UInt32 {
        var (first, last) = (0, sums.count - 1)
        while first < last {
            let middle = (first + last) / 2
            if sums[middle] > number { last = middle } else { first = middle + 1 }
        }
        let before = first == 0 ? 0 : sums[first - 1]
        return UInt32(
            list.position(ofShort: number - before, from: Int(low) + first * FactList.blockSize, upTo: maxLength))
    }
}

extension Shuffle {
    /// The stored form: little-endian words of 32 bits after a byte with the version of the form.
    var encoded: [UInt8] { encoded(with: []) }

    /// - Parameter drawn: ordinals that were drawn but not served; they are served before the end of the cycle.
    func encoded(with drawn: [UInt32]) -> [UInt8] {
        var words = [
            UInt32(truncatingIfNeeded: key), UInt32(truncatingIfNeeded: key >> 32), cursor, last ?? 0,
            UInt32(bounds.count),
        ]
        for bounds in bounds { words += [bounds.low, bounds.high, bounds.epoch] }
        words += deferred + drawn
        return words.reduce(into: [2]) { bytes, word in
            for shift in [0, 8, 16, 24] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
    }

    /// nil for invalid bytes. The caller then calls ``attach(to:_:)``.
    init?(encoded bytes: [UInt8], lists: [Int]) {
        guard bytes.first == 2, bytes.count % 4 == 1 else { return nil }
        let words = stride(from: 1, to: bytes.count, by: 4).map { start in
            (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[start + $1]) << UInt32(8 * $1) }
        }
        guard words.count >= 5 + 3 * lists.count, words[4] == UInt32(lists.count) else { return nil }
        self.init(key: UInt64(words[0]) | UInt64(words[1]) << 32, lists: lists)
        cursor = words[2]
        last = words[3] == 0 ? nil : words[3]
        for slot in lists.indices {
            let start = 5 + 3 * slot
            guard words[start] <= words[start + 1] else { return nil }
            bounds[slot] = Bounds(low: words[start], high: words[start + 1], epoch: words[start + 2])
        }
        deferred = Array(words[(5 + 3 * lists.count)...])
        // A damaged shuffle would otherwise serve one fact many times.
        guard deferred.count <= Shuffle.maximumDeferred, Set(deferred).count == deferred.count else { return nil }
    }

    static func == (left: Shuffle, right: Shuffle) -> Bool { left.encoded == right.encoded }
}

/// A permutation of the numbers from 0 to `count` without memory: each number is computed from a key.
///
/// Rounds of an odd multiplication, an addition and an xor-shift over the smallest power of two above `count`, each
/// invertible, with cycle-walking for numbers above the end (Black and Rogaway, "Ciphers with Arbitrary Finite
/// Domains", 2002): fewer than two attempts on average. Not a cipher.
struct KeyedPermutation {
    let count: UInt32
    private let key: UInt64
    private let mask: UInt32
    private let shift: UInt32
    private let rounds: Int

    init(count: UInt32, key: UInt64) {
        self.count = count
        self.key = key
        let bits = UInt32(count <= 1 ? 0 : UInt32.bitWidth - (count - 1).leadingZeroBitCount)
        mask = bits == 32 ? .max : (1 << bits) - 1
        shift = (bits + 1) / 2
        // Measured with chi-square tests over 400,000 keys: the first, the last and neighboring numbers, and all orders
        // of up to five. With two thirds of these rounds the tests fail.
        rounds = bits <= 3 ? 24 : bits <= 6 ? 12 : 6
    }

    /// - Precondition: `index` is less than `count`.
    @inline(__always) func callAsFunction(_ index: UInt32) -> UInt32 {
        var value = index
        repeat {
            var roundKey = key
            for _ in 0..<rounds {
                let low = UInt32(truncatingIfNeeded: roundKey)
                let high = UInt32(truncatingIfNeeded: roundKey &>> 32)
                value = (value &* (low | 1) &+ high) & mask
                value ^= value &>> shift
                roundKey = ((roundKey &<< 23) | (roundKey &>> 41)) &+ 0x9E37_79B9_7F4A_7C15
            }
        } while value >= count
        return value
    }
}
