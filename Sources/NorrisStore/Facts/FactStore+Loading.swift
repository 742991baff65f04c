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
            try databases.cache.forEachFact { facts.append($0) }
        } catch {
            logger.error("cache.unreadable", metadata: ["error": "\(error)"])
        }
        publish(CacheDatabase.Changes(stored: facts))
    }

    /// Fills a cache that was made anew with what needs no network; what only the old one held is gone.
    package func refill(fortunes: [String]) {
        let gone = state.withLock { $0.catalogue.ids }
        importStartingCollection()
        importFortunes(fortunes)
        do {
            var stored: Set<String> = []
            try databases.cache.forEachFact { stored.insert($0.id) }
            publish(CacheDatabase.Changes(removed: gone.filter { !stored.contains($0) }))
        } catch {
            logger.error("cache.unreadable", metadata: ["error": "\(error)"])
        }
    }

    func loadWalks() {
        do {
            try state.withLock { state in
                try databases.state.forEachWalk { record in
                    let tracks = state.catalogue.tracks(of: record.key.filter)
                    guard let bytes = record.position,
                        let position = WalkPosition(encoded: bytes, strips: tracks.count)
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

    /// Shows changes of the cache to the readers, after their seats are on the disk.
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

    private func seats(of facts: [Fact]) -> [[Int]] {
        let nextSeat = { (roster: RosterName) in self.state.withLock { $0.catalogue.seatCount(of: roster) } }
        do {
            return try databases.state.seat(facts, nextSeat: nextSeat)
        } catch {
            databases.noteWriteFailure(error, logger)
            // The disk does not take them: the facts get seats for this run, and are seated anew at the next start.
            var next: [RosterName: Int] = [:]
            return facts.map { fact in
                FactCatalogue.rosters(of: fact).map { roster in
                    let seat = next[roster] ?? nextSeat(roster)
                    next[roster] = seat + 1
                    return seat
                }
            }
        }
    }
}
