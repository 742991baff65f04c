import NorrisProtocol
import NorrisTestSupport

@testable import NorrisStore

/// Facts that come and go on their seats, as the store keeps them, without a disk.
struct WalkWorld {
    private(set) var catalogue = FactCatalogue()
    private(set) var facts: [String: Fact] = [:]
    /// What `state.db` holds: the fact of every seat, and its length.
    private var seats: [RosterName: [(fact: String, length: Int)]] = [:]

    /// In an order that a seed repeats, as that of a dictionary is not.
    var sortedFacts: [Fact] { facts.values.sorted { $0.id < $1.id } }

    mutating func arrive(_ fact: Fact) {
        facts[fact.id] = fact
        var json = JSONWriter()
        let seats = FactCatalogue.rosters(of: fact).map { seat(of: fact, on: $0) }
        catalogue.insert(FactCatalogue.Arrival(fact, seats: seats, json: &json))
    }

    mutating func leave(_ id: String) {
        facts[id] = nil
        catalogue.remove(id: id)
    }

    /// A start: the seats are laid out anew and taken in any order.
    mutating func restart(using generator: inout SeededGenerator) {
        catalogue = FactCatalogue()
        for (roster, seats) in seats.sorted(by: { $0.key.key < $1.key.key }).shuffled(using: &generator) {
            for seat in seats { catalogue.addEmptySeat(on: roster, length: seat.length) }
        }
        for fact in sortedFacts.shuffled(using: &generator) { arrive(fact) }
    }

    private mutating func seat(of fact: Fact, on roster: RosterName) -> Int {
        if let seat = seats[roster]?.firstIndex(where: { $0.fact == fact.id }) { return seat }
        seats[roster, default: []].append((fact.id, fact.length))
        return seats[roster]!.count - 1  // Appended to in the line above.
    }

    mutating func walk(_ filter: WalkFilter, key: UInt64) -> Walk {
        let tracks = catalogue.tracks(of: filter)
        return Walk(tracks: tracks, position: WalkPosition(key: key, strips: tracks.count))
    }

    /// The walk as it comes back from the disk; nil where it would not.
    mutating func restored(_ walk: Walk, _ filter: WalkFilter) -> Walk? {
        let tracks = catalogue.tracks(of: filter)
        guard let position = WalkPosition(encoded: walk.position.encoded, strips: tracks.count),
            position == walk.position,
            position.fits(tracks.map { catalogue.count(of: $0.strip, roster: $0.roster) })
        else { return nil }
        return Walk(tracks: tracks, position: position)
    }

    func matching(_ filter: WalkFilter) -> Set<String> {
        Set(
            facts.values.filter { fact in
                (filter.categories.isEmpty || !Set(filter.categories).isDisjoint(with: fact.categories))
                    && (filter.allowsExplicit || !fact.categories.contains("explicit"))
                    && fact.text.unicodeScalars.count <= filter.maxLength ?? .max
            }.map(\.id)
        )
    }

    /// Moves a walk and gives ids.
    func next(_ count: Int, _ walk: inout Walk) -> [String] {
        walk.next(count, from: catalogue).compactMap { catalogue[$0]?.id }
    }
}

/// The contract of a walk, told what a walk gives: an independent judge.
struct WalkJudge {
    private var given: Set<String> = []
    private var last: String?

    /// Takes the next reply.
    ///
    /// - Returns: what is wrong with it, or nil.
    mutating func fault(in reply: [String], count: Int, matching: Set<String>) -> String? {
        guard reply.count == min(count, matching.count) else { return "\(reply.count) of \(matching.count)" }
        guard Set(reply).count == reply.count else { return "a fact twice in a reply" }
        guard matching.isSuperset(of: reply) else { return "a fact that does not match" }
        for id in reply {
            if given.contains(id) {
                let missing = matching.subtracting(given)
                guard missing.isEmpty else { return "\(id) again before \(missing.sorted())" }
                if id == last, matching.count > 1 { return "\(id) twice in a row" }
                given = []
            }
            given.insert(id)
            last = id
        }
        return nil
    }
}
