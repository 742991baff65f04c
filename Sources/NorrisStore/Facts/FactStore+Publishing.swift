import Logging
import NorrisProtocol
import Synchronization

/// Showing changes of the cache to the readers, who are to notice nothing but the changes.
///
/// Only one change at a time: ``FactStore/importing`` is held, or nobody else has the store yet.
extension FactStore {
    /// How many facts get their seats written at a time: what is held for it stays small.
    static let seatedAtOnce = 1_024

    /// How many facts are put into the catalogue at a time, for requests wait meanwhile.
    ///
    /// Measured: 64 take 30 to 50 microseconds.
    private static let shownAtOnce = 64

    /// Takes facts out of the catalogue and puts others in, after their seats are on the disk.
    func publish(_ changes: FactChanges) {
        for ids in changes.removed.slices(of: FactStore.shownAtOnce) {
            state.withLock { state in
                for id in ids { state.catalogue.remove(id: id) }
            }
        }
        for facts in changes.stored.slices(of: FactStore.seatedAtOnce) {
            makeRoom(for: facts.count)
            var json = JSONWriter()
            let arrivals = zip(facts, seats(of: facts)).map { fact, seats in
                FactCatalogue.Arrival(fact, seats: seats, json: &json)
            }
            for arrivals in arrivals.slices(of: FactStore.shownAtOnce) {
                state.withLock { state in
                    for arrival in arrivals { state.catalogue.insert(arrival) }
                }
            }
        }
    }

    /// Grows the catalogue while requests go on: to grow is to copy all that is there.
    ///
    /// Measured: within the lock, requests would wait ten milliseconds for it on the way to 60,000 facts.
    private func makeRoom(for count: Int) {
        var entries = state.withLock { $0.catalogue.entries }
        guard entries.makeRoom(for: count) else { return }
        // Nobody else changes them while content changes; the old ones end after the lock.
        state.withLock { swap(&$0.catalogue.entries, &entries) }
    }

    /// The seats of each fact on its rosters: those it had, and new ones at the ends of the others.
    private func seats(of facts: ArraySlice<Fact>) -> [[Int]] {
        var seats: [[Int]] = []
        var new: [StateDatabase.Seat] = []
        var leaving: [String] = []
        var next: [RosterName: Int] = [:]
        func take(_ fact: Fact, _ known: [StateDatabase.Seat]) {
            let length = fact.length
            // A fact whose text has another length now is another fact to those who ask for short ones.
            let hasOtherLength = known.contains { $0.length != length }
            if hasOtherLength { leaving.append(fact.id) }
            let known = hasOtherLength ? [] : known
            seats.append(
                FactCatalogue.rosters(of: fact).map { roster in
                    if let seat = known.first(where: { $0.roster == roster })?.seat { return seat }
                    let seat = next[roster] ?? state.withLock { $0.catalogue.seatCount(of: roster) }
                    next[roster] = seat + 1
                    new.append(StateDatabase.Seat(roster: roster, seat: seat, fact: fact.id, length: length))
                    return seat
                }
            )
        }
        do {
            try databases.state.forEachFact(of: facts, take)
        } catch {
            logger.error("seats.unreadable", metadata: ["error": "\(error)"])
            for fact in facts.dropFirst(seats.count) { take(fact, []) }
        }
        do {
            try databases.state.write(new, leaving: leaving)
        } catch {
            // The facts have their seats for this run, and are seated anew at the next start.
            databases.noteWriteFailure(error, of: .state, logger)
        }
        return seats
    }
}

extension Array {
    /// The elements in their order, so many at a time.
    fileprivate func slices(of count: Int) -> some Sequence<ArraySlice<Element>> {
        stride(from: 0, to: self.count, by: count).lazy.map { self[$0..<Swift.min($0 + count, self.count)] }
    }
}
