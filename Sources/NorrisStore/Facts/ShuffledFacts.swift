package import NorrisProtocol
import Synchronization

/// The facts in a random order, each once and none explicit; to read them moves nobody's walk.
///
/// They are read while they are asked for, so that no request waits long and a million of them costs no copy. Facts
/// that come meanwhile are not among them, and those that go need not be.
package struct ShuffledFacts: Sequence, IteratorProtocol {
    /// How many seats are looked at while the store's lock is held: some microseconds.
    private static let seatsAtOnce: UInt32 = 64

    private let store: FactStore
    private let maxLength: Int
    private let roster: Int
    private let seats: KeyedPermutation
    private var place: UInt32 = 0
    private var found: [FactStore.Given] = []

    fileprivate init(_ store: FactStore, maxLength: Int, key: UInt64) {
        self.store = store
        self.maxLength = maxLength
        let (roster, count) = store.state.withLock { state in
            let roster = state.catalogue.number(of: RosterName(category: "", isExplicit: false))
            return (roster, state.catalogue.count(of: .all, roster: roster))
        }
        self.roster = roster
        seats = KeyedPermutation(count: count, key: key)
    }

    package mutating func next() -> Fact? {
        while found.isEmpty, place < seats.count { lookFurther() }
        // Encoded by the store from a fact.
        return found.popLast().flatMap { try? Fact(json: JSON.parse($0.wire)) }
    }

    private mutating func lookFurther() {
        let end = place + Swift.min(ShuffledFacts.seatsAtOnce, seats.count - place)
        let numbers = (place..<end).map { seats($0) }
        place = end
        found = store.state.withLock { state in
            // Not a copy of what it holds: nothing changes the catalogue while both names live.
            let catalogue = state.catalogue
            return numbers.compactMap { seat in
                guard catalogue.length(ofSeat: seat, roster: roster) <= maxLength else { return nil }
                return catalogue.slot(at: seat, of: .all, roster: roster).flatMap(catalogue.given)
            }
        }
    }
}

extension FactStore {
    /// The facts of at most so many code points, in a random order.
    package func shuffled(maxLength: Int, using generator: inout some RandomNumberGenerator) -> ShuffledFacts {
        ShuffledFacts(self, maxLength: maxLength, key: generator.next())
    }
}
