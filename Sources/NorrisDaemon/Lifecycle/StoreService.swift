import NorrisPrefetch
import NorrisStore
import ServiceLifecycle

/// Writes shuffles soon after they have moved, and closes the databases at the end.
struct StoreService: Service {
    let databases: Databases
    let facts: FactStore
    let clock: any WallClock

    /// After a crash, facts of the last second may come again, and no others.
    private static let delay = Duration.milliseconds(500)
    /// How long after a write that failed the next one is tried, if nothing moves.
    private static let retryDelay = Duration.seconds(5)

    func run() async throws {
        let moved = WakeSignal()
        facts.onMove { moved.set() }
        // Something may have moved before.
        moved.set()
        var isWritten = true
        await moved.repeatUntilStopped {
            if isWritten { await moved.wait() } else { await moved.wait(atMost: StoreService.retryDelay, on: clock) }
            // What moves meanwhile is written with it.
            if !Task.isShuttingDownGracefully { await moved.wait(atMost: StoreService.delay, on: clock) }
            isWritten = await facts.writeWalks()
        }
        await facts.writeWalks()
        databases.close()
    }
}
