/// One walk of a user: gives every matching fact once before it gives any again.
///
/// Pure but for the seed: it reads the catalogue through ``WalkedFacts`` and changes only its own position. Each draw
/// takes a few steps, and one for each empty seat it meets.
///
/// A fact that moves to other categories while a walk over several of them is under way may come once more in that
/// round, or not until the next.
struct Walk {
    /// A strip the walk goes over, and its roster.
    struct Track {
        let roster: Int
        let strip: Strip
    }

    private(set) var position: WalkPosition
    private let tracks: [Track]
    /// The rosters of the tracks, each once. A fact that sits on several counts on the first of them only.
    private let rosters: [Int]

    init(tracks: [Track], position: WalkPosition) {
        self.tracks = tracks
        self.position = position
        rosters = tracks.map(\.roster).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    /// Gives the next fact.
    mutating func next(from facts: some WalkedFacts) -> Int32? {
        guard rosters.contains(where: facts.hasFacts(roster:)) else { return nil }
        return next(without: [], from: facts)
    }

    /// Gives the next facts: as many as asked for, or all that match where they are fewer, none twice.
    mutating func next(_ count: Int, from facts: some WalkedFacts) -> [Int32] {
        // Otherwise each call would look at every seat to find it empty.
        guard rosters.contains(where: facts.hasFacts(roster:)) else { return [] }
        var given: [Int32] = []
        while given.count < count, let slot = next(without: given, from: facts) {
            given.append(slot)
        }
        return given
    }

    private mutating func next(without given: [Int32], from facts: some WalkedFacts) -> Int32? {
        if let slot = nextInRound(without: given, from: facts) { return slot }
        // The round is over, but for what the reply holds already because it ran over into it: then it holds everything.
        guard !position.deferred.contains(where: { countedSlot(at: $0, in: facts) != nil }) else { return nil }
        let end = position
        beginRound()
        if let slot = nextInRound(without: given, from: facts) { return slot }
        // A round that gives nothing has not begun: what comes back is still of the one before.
        position = end
        return nil
    }

    private mutating func nextInRound(without given: [Int32], from facts: some WalkedFacts) -> Int32? {
        repeat {
            if let slot = nextInSegment(without: given, from: facts) { return slot }
        } while beginSegment(of: facts)
        return nextDeferred(without: given, from: facts)
    }

    private mutating func nextInSegment(without given: [Int32], from facts: some WalkedFacts) -> Int32? {
        let permutation = KeyedPermutation(
            count: position.bounds.reduce(0) { $0 + $1.count },
            key: position.key
        )
        while position.cursor < permutation.count {
            let place = place(permutation(position.cursor))
            position.cursor += 1
            guard let slot = slot(at: place, in: facts) else {
                position.deferEmpty(place)
                continue
            }
            guard isCounted(slot, at: place, in: facts) else { continue }
            // A place comes once a round, so the last given can only be met as the first of the next.
            if given.contains(slot) || place == position.last {
                position.deferred.append(place)
                continue
            }
            position.last = place
            return slot
        }
        return nil
    }

    /// What was passed over in this round and can be given now.
    private mutating func nextDeferred(without given: [Int32], from facts: some WalkedFacts) -> Int32? {
        for (index, place) in position.deferred.enumerated() {
            guard let slot = countedSlot(at: place, in: facts), !given.contains(slot) else { continue }
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
        position.deferred = []
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

    private func slot(at place: WalkPosition.Place, in facts: some WalkedFacts) -> Int32? {
        let track = tracks[Int(place.strip)]
        return facts.slot(at: place.place, of: track.strip, roster: track.roster)
    }

    private func countedSlot(at place: WalkPosition.Place, in facts: some WalkedFacts) -> Int32? {
        slot(at: place, in: facts).flatMap { isCounted($0, at: place, in: facts) ? $0 : nil }
    }

    /// Whether a fact counts where it was met, and not on another roster that comes before.
    private func isCounted(_ slot: Int32, at place: WalkPosition.Place, in facts: some WalkedFacts) -> Bool {
        guard rosters.count > 1 else { return true }
        return rosters.first { facts.isFact(slot, on: $0) } == tracks[Int(place.strip)].roster
    }
}

/// What a walk needs to see of the catalogue.
protocol WalkedFacts {
    func count(of strip: Strip, roster: Int) -> UInt32
    /// nil where the seat is empty, or past the end.
    func slot(at place: UInt32, of strip: Strip, roster: Int) -> Int32?
    func isFact(_ slot: Int32, on roster: Int) -> Bool
    /// Whether any seat of a roster is taken.
    func hasFacts(roster: Int) -> Bool
}
