import Logging
import NorrisProtocol
import Synchronization

/// Filling the memory from the databases when the daemon starts, or when the cache was made anew.
extension FactStore {
    /// Forgets the seats that an earlier version has kept of too many categories, before they are loaded.
    func forgetUnusedCategories() {
        do {
            let used = try databases.cache.categories()
            // As many rosters as there may be, and one: then there are too many, however many more.
            let known = try databases.state.categories(limit: 2 * (1 + used.count + CategoryLimit.maximumCount) + 1)
            forget(known.subtracting(used), used: used)
        } catch {
            logger.error("seats.unreadable", metadata: ["error": "\(error)"])
        }
    }

    /// Forgets the seats of categories without facts, where there are more of these than an upstream may have.
    ///
    /// An upstream that invents other categories each time would fill the state otherwise. A category that comes back
    /// is shuffled anew.
    func forget(_ unused: Set<String>, used: Set<String>) {
        guard unused.count > CategoryLimit.maximumCount else { return }
        do {
            try databases.state.forgetCategories(except: used)
            state.withLock { state in
                state.walks.forget(unused)
                state.catalogue.forget(unused)
            }
            logger.info("categories.forgotten")
        } catch {
            databases.noteWriteFailure(error, of: .state, logger)
        }
    }

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
                guard facts.count == FactStore.seatedAtOnce else { return }
                publish(FactChanges(stored: facts))
                facts.removeAll(keepingCapacity: true)
            }
        } catch {
            logger.error("cache.unreadable", metadata: ["error": "\(error)"])
        }
        publish(FactChanges(stored: facts))
    }

    /// Fills a cache that was made anew with what needs no network; what only the old one held is gone.
    package func refill(fortunes: [String]) {
        importStartingCollection()
        importFortunes(fortunes)
        importing.withLock { _ in
            do {
                var stored: Set<String> = []
                try databases.cache.forEachFact { stored.insert($0.id) }
                let known = state.withLock { $0.catalogue.entries }.ids
                publish(FactChanges(removed: known.filter { !stored.contains($0) }))
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
}
