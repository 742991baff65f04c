import NorrisSystem

/// A user's order of the facts of a filter, which serves every matching fact once before it repeats any fact.
///
/// A fact's place in the order is a keyed hash of its id. So the key and the place of the last fact describe the shuffle,
/// whatever facts arrive, change or go. A cycle is one pass through the order; the next cycle has another key.
struct Shuffle {
    private var key: UInt64
    /// The place of the last fact that the cycle has passed; nil at the beginning.
    private var place: UInt64?
    /// Hashes of the ids that the cycle has passed without serving, because the same reply contains them from the cycle
    /// before, or because they were the last of that cycle. They are served at the end of the cycle. At most as many as
    /// facts in a reply.
    private var deferred: [UInt64] = []
    /// The hash of the id of the last served fact.
    private(set) var last: UInt64?
    private var window = Window()

    /// The next facts of the order, from one catalogue. Sorting a part of the facts at a time takes a few microseconds,
    /// and a few kilobytes for each shuffle, however many facts there are.
    private struct Window {
        /// ``FactCatalogue/version``; 0 for none.
        var version = 0
        /// The facts in their order: the place in the upper bits, the number of the fact in the lower ones, because one
        /// number is sorted faster than two.
        var facts: [UInt64] = []
        /// The index of the next fact.
        var next = 0
        /// The last place of the window.
        var end: UInt64?
        /// The number of places in a window.
        var width: UInt64 = .max
    }

    /// Enough for the numbers of ``FactCatalogue/maximumCount`` facts.
    private static let numberMask: UInt64 = 1 << 18 - 1

    /// The place of a fact, a keyed hash of its id.
    private func place(_ hash: UInt64) -> UInt64 { mix(hash ^ key) & ~Shuffle.numberMask }

    init(key: UInt64) { self.key = key }

    /// The next fact; nil if the reply already contains all matching facts.
    ///
    /// - Parameter served: the hashes of the facts in the reply.
    mutating func next(_ filter: FactFilter, from catalogue: FactCatalogue, without served: [UInt64] = []) -> UInt32? {
        if let number = nextInCycle(filter, catalogue, served) { return number }
        // The rest of the cycle is in the reply, so the reply contains everything.
        guard deferred.isEmpty else { return nil }
        let end = self
        (key, place, window.end) = (mix(key), nil, nil)
        if let number = nextInCycle(filter, catalogue, served) { return number }
        self = end
        return nil
    }

    private mutating func nextInCycle(
        _ filter: FactFilter, _ catalogue: FactCatalogue, _ served: [UInt64]
    ) -> UInt32? {
        while let number = nextInOrder(filter, catalogue) {
            let hash = catalogue.hash(number)
            // Only the first fact of a cycle can be the last served one.
            if hash == last || served.contains(hash) {
                deferred.append(hash)
            } else if deferred.isEmpty || !deferred.contains(hash) {
                last = hash
                return number
            }
        }
        // A fact that was removed, or no longer matches, is skipped.
        deferred.removeAll { hash in catalogue.number(ofHash: hash).map { !catalogue.matches($0, filter) } ?? true }
        guard let index = deferred.firstIndex(where: { !served.contains($0) }) else { return nil }
        last = deferred.remove(at: index)
        return last.flatMap(catalogue.number(ofHash:))
    }

    @inline(__always) private mutating func nextInOrder(_ filter: FactFilter, _ catalogue: FactCatalogue) -> UInt32? {
        if window.next == window.facts.count || window.version != catalogue.version { fillWindow(filter, catalogue) }
        guard window.next < window.facts.count else { return nil }
        let fact = window.facts[window.next]
        window.next += 1
        place = fact & ~Shuffle.numberMask
        return UInt32(truncatingIfNeeded: fact & Shuffle.numberMask)
    }

    /// The number of facts in a window, and the fraction of all matching facts if that is more.
    private static let windowSize = 512
    private static let windowFraction = 64

    private mutating func fillWindow(_ filter: FactFilter, _ catalogue: FactCatalogue) {
        if window.version != catalogue.version {
            var count = 0
            catalogue.forEach(filter) { _, _ in count += 1 }
            let size = max(Shuffle.windowSize, count / Shuffle.windowFraction)
            let width = count <= size ? .max : .max / UInt64(count) * UInt64(size)
            window = Window(version: catalogue.version, end: place, width: width)
        }
        window.next = 0
        window.facts.removeAll(keepingCapacity: true)
        while window.facts.isEmpty, window.end != .max {
            // The places up to and including `passed` are in the past.
            let passed = window.end
            let (sum, isBeyond) = (passed ?? 0).addingReportingOverflow(window.width)
            let end = isBeyond ? .max : sum
            catalogue.forEach(filter) { number, hash in
                let place = place(hash)
                guard place <= end, passed.map({ place > $0 }) ?? true else { return }
                window.facts.append(place | UInt64(number))
            }
            window.end = end
        }
        window.facts.sort()
    }
}

extension Shuffle {
    /// The stored form: a byte with the version of the form, then little-endian words of 64 bits. The place and the last
    /// fact each follow a word that is 0 if there is none.
    var encoded: [UInt8] {
        let words = [key, place == nil ? 0 : 1, place ?? 0, last == nil ? 0 : 1, last ?? 0] + deferred
        return words.reduce(into: [3]) { bytes, word in withUnsafeBytes(of: word.littleEndian) { bytes += $0 } }
    }

    /// nil for invalid bytes.
    init?(encoded bytes: [UInt8]) {
        guard bytes.first == 3, bytes.count >= 41, bytes.count % 8 == 1 else { return nil }
        let words = stride(from: 1, to: bytes.count, by: 8).map { start in
            bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: UInt64.self)) }
        }
        key = words[0]
        place = words[1] == 0 ? nil : words[2]
        last = words[3] == 0 ? nil : words[4]
        // No reply has more facts, and none has a fact twice.
        for hash in words[5...].prefix(100) where !deferred.contains(hash) { deferred.append(hash) }
    }
}
