import Logging
import NorrisProtocol
import Synchronization

/// Filling the memory from the databases when the daemon starts, or when the cache was made anew.
extension FactStore {
    /// Lays out the seats as they were; facts take theirs when they come.
    func loadSeats() {
        do {
            try state.withLock { state in
                try databases.state.forEachSeat { seat in
                    // Rows come in the order of seats; a gap can only be a row that was lost, and stays empty.
                    while state.catalogue.seatCount(of: seat.roster) <= seat.seat {
                        state.catalogue.addEmptySeat(on: seat.roster, length: seat.length)
                    }
                }
            }
        } catch {
            logger.error("seats.unreadable", metadata: ["error": "\(error)"])
        }
    }

    /// Takes in what the cache holds.
    func loadCache() {
        var facts: [Fact] = []
        do {
            // A few at a time, for the whole of a large cache would stay in the heap of a small daemon.
            try databases.cache.forEachFact { fact in
                facts.append(fact)
                guard facts.count == FactStore.publishedAtOnce else { return }
                publish(CacheDatabase.Changes(stored: facts))
                facts.removeAll(keepingCapacity: true)
            }
        } catch {
            logger.error("cache.unreadable", metadata: ["error": "\(error)"])
        }
        publish(CacheDatabase.Changes(stored: facts))
    }

    /// Fills a cache that was made anew with what needs no network; what only the old one held is gone.
    package func refill(fortunes: [String]) {
        importStartingCollection()
        importFortunes(fortunes)
        importing.withLock { _ in
            do {
                var stored: Set<String> = []
                try databases.cache.forEachFact { stored.insert($0.id) }
                let known = state.withLock { $0.catalogue.ids }
                publish(CacheDatabase.Changes(removed: known.filter { !stored.contains($0) }))
            } catch {
                logger.error("cache.unreadable", metadata: ["error": "\(error)"])
            }
        }
    }

    func loadWalks() {
        do {
            try state.withLock { state in
                try databases.state.forEachWalk { record in
                    let tracks = state.catalogue.tracks(of: record.key.filter)
                    guard let bytes = record.position,
                        let position = WalkPosition(encoded: bytes, strips: tracks.count),
                        position.fits(tracks.map { state.catalogue.count(of: $0.strip, roster: $0.roster) })
                    else { return }
                    state.walks.restore(
                        Walk(tracks: tracks, position: position), key: record.key, usedAt: record.usedAt
                    )
                }
            }
        } catch {
            logger.error("walks.unreadable", metadata: ["error": "\(error)"])
        }
    }

    /// How many facts are put into the catalogue at a time: few enough that no request waits for a millisecond.
    private static let publishedAtOnce = 256

    /// Shows changes of the cache to the readers, after their seats are on the disk. One call at a time.
    func publish(_ changes: CacheDatabase.Changes) {
        for start in stride(from: 0, to: changes.removed.count, by: FactStore.publishedAtOnce) {
            state.withLock { state in
                for id in changes.removed[start...].prefix(FactStore.publishedAtOnce) {
                    state.catalogue.remove(id: id)
                }
            }
        }
        guard !changes.stored.isEmpty else { return }
        let seats = seats(of: changes.stored)
        for start in stride(from: 0, to: changes.stored.count, by: FactStore.publishedAtOnce) {
            state.withLock { state in
                for index in start..<min(start + FactStore.publishedAtOnce, changes.stored.count) {
                    state.catalogue.insert(changes.stored[index], seats: seats[index])
                }
            }
        }
    }

    /// The seats of each fact on its rosters: those it had, and new ones at the ends of the others.
    private func seats(of facts: [Fact]) -> [[Int]] {
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
            for fact in facts[seats.count...] { take(fact, []) }
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
