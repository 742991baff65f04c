package import NorrisProtocol
import Synchronization

/// The fact of the day.
extension FactStore {
    /// The daemon's own walk: a fact is that of a day once before any is again.
    private static let dayUser: Int64 = -1

    /// How many days are kept in memory.
    private static let daysInMemory = 16

    /// The fact of a day, if it is in memory.
    package func factOfTheDayInMemory(_ day: CivilDate) -> Fact? {
        state.withLock { $0.days[day] }
    }

    /// The fact of a day; picked, and kept for good, by whoever asks first.
    ///
    /// - Returns: nil only where there is no fact at all.
    package func factOfTheDay(_ day: CivilDate, today: CivilDate) async -> Fact? {
        do {
            if let fact = try await databases.state.factOfTheDay(day) { return remember(fact, day, today: today) }
            guard let pick = pick() else { return nil }
            return remember(try await databases.state.keep(pick, of: day, today: today), day, today: today)
        } catch {
            databases.noteWriteFailure(error, of: .state, logger)
            // The disk does not take it: the day keeps its fact while the daemon runs.
            return factOfTheDayInMemory(day) ?? pick().map { remember($0, day, today: today) }
        }
    }

    private func pick() -> Fact? {
        next(uid: FactStore.dayUser, WalkFilter()).flatMap { try? Fact(json: JSON.parse($0.wire)) }
    }

    private func remember(_ fact: Fact, _ day: CivilDate, today: CivilDate) -> Fact {
        state.withLock { state in
            if let known = state.days[day] { return known }
            if state.days.count >= FactStore.daysInMemory {
                // Where the disk takes nothing, this is the only place that knows today's.
                state.days = state.days.filter { abs($0.key.dayNumber - today.dayNumber) <= 1 }
            }
            state.days[day] = fact
            return fact
        }
    }
}
