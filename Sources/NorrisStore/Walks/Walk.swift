/// One walk of a user: gives every matching fact once before it gives any again.
///
/// Pure but for the seed: it reads the catalogue through ``WalkedFacts`` and changes only its own position.
struct Walk {
    /// The strips the walk goes over, each with its roster and the category it stands for.
    struct Track {
        let roster: Int
        let strip: Strip
        let category: String
    }

    private(set) var position: WalkPosition
    private let tracks: [Track]
    /// Whether a fact can sit on several tracks; then it counts on the first of its categories only.
    private let hasOverlap: Bool

    init(tracks: [Track], position: WalkPosition) {
        self.tracks = tracks
        self.position = position
        hasOverlap = tracks.contains { $0.category != tracks[0].category }
    }

    /// Gives the next facts: as many as asked for, or all that match where they are fewer, none twice.
    mutating func next(_ count: Int, from facts: some WalkedFacts) -> [Int32] {
        var given: [Int32] = []
        while given.count < count, let slot = next(without: given, from: facts) {
            given.append(slot)
        }
        return given
    }

    private mutating func next(without given: [Int32], from facts: some WalkedFacts) -> Int32? {
        var hasBegunRound = false
        while true {
            if let slot = nextInSegment(without: given, from: facts) { return slot }
            if beginSegment(of: facts) { continue }
            if let slot = nextDeferred(without: given, from: facts) { return slot }
            // A whole round without a fact to give: nothing matches, or the reply holds all that do.
            if hasBegunRound || !position.deferred.isEmpty { return nil }
            hasBegunRound = true
            beginRound()
        }
    }

    private mutating func nextInSegment(without given: [Int32], from facts: some WalkedFacts) -> Int32? {
        let permutation = KeyedPermutation(
            count: position.bounds.reduce(0) { $0 + $1.count },
            key: position.key
        )
        while position.cursor < permutation.count {
            let isFirstOfRound = position.cursor == 0 && position.bounds.allSatisfy { $0.low == 0 }
            let place = place(permutation(position.cursor))
            position.cursor += 1
            guard let slot = slot(at: place, in: facts) else { continue }
            if given.contains(slot) || (isFirstOfRound && place == position.last) {
                position.deferred.append(place)
                continue
            }
            position.last = place
            return slot
        }
        return nil
    }

    /// What was passed over for a reply that is sent by now.
    private mutating func nextDeferred(without given: [Int32], from facts: some WalkedFacts) -> Int32? {
        var index = 0
        while index < position.deferred.count {
            let place = position.deferred[index]
            guard let slot = slot(at: place, in: facts) else {
                position.deferred.remove(at: index)
                continue
            }
            if given.contains(slot) {
                index += 1
                continue
            }
            position.deferred.remove(at: index)
            position.last = place
            return slot
        }
        return nil
    }

    /// Goes on with the seats that came since the segment began; false where none came.
    private mutating func beginSegment(of facts: some WalkedFacts) -> Bool {
        var hasGrown = false
        for (index, track) in tracks.enumerated() {
            let count = facts.count(of: track.strip, roster: track.roster)
            hasGrown = hasGrown || count > position.bounds[index].high
        }
        guard hasGrown else { return false }
        for (index, track) in tracks.enumerated() {
            position.bounds[index].low = position.bounds[index].high
            position.bounds[index].high = facts.count(of: track.strip, roster: track.roster)
        }
        position.cursor = 0
        position.key = mix(position.key)
        return true
    }

    /// Empties the bounds, so that the next segment is everything.
    private mutating func beginRound() {
        for index in position.bounds.indices {
            position.bounds[index] = WalkPosition.Bounds()
        }
        position.cursor = 0
        position.key = mix(position.key)
    }

    /// The track and place of a number in the segment.
    private func place(_ number: UInt32) -> WalkPosition.Place {
        var rest = number
        for (index, bounds) in position.bounds.enumerated() {
            if rest < bounds.count {
                return WalkPosition.Place(strip: UInt32(index), place: bounds.low + rest)
            }
            rest -= bounds.count
        }
        preconditionFailure("The permutation counts the places of all bounds")
    }

    /// The fact at a place; nil where it is gone, or counts on another track.
    private func slot(at place: WalkPosition.Place, in facts: some WalkedFacts) -> Int32? {
        let track = tracks[Int(place.strip)]
        guard let slot = facts.slot(at: place.place, of: track.strip, roster: track.roster) else { return nil }
        guard hasOverlap else { return slot }
        let first = tracks.first { facts.isFact(slot, in: $0.category) }
        return first?.category == track.category ? slot : nil
    }
}

/// What a walk needs to see of the catalogue.
protocol WalkedFacts {
    func count(of strip: Strip, roster: Int) -> UInt32
    /// nil where the seat is empty, or past the end.
    func slot(at place: UInt32, of strip: Strip, roster: Int) -> Int32?
    func isFact(_ slot: Int32, in category: String) -> Bool
}
