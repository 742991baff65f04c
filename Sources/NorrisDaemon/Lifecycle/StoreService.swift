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
            isWritten = await facts.writeShuffles()
        }
        await facts.writeShuffles()
        databases.close()
    }
}

/// Reads fortune files at the start and whenever they are wanted again, while the daemon serves.
struct FortuneService: Service {
    let facts: FactStore
    let clock: any WallClock
    /// Set when there is something new to say about the daemon.
    let changes: WakeSignal
    /// The files and folders of the configuration in force.
    let paths: @Sendable () -> [String]

    /// How often the status tells how far the import is.
    private static let statusInterval = Duration.seconds(2)

    func run() async throws {
        let wanted = WakeSignal()
        facts.onFortunesWanted { wanted.set() }
        wanted.set()
        await withGracefulShutdownHandler {
            await wanted.repeatUntilStopped {
                await wanted.wait()
                guard !Task.isShuttingDownGracefully else { return }
                await withTaskGroup { tasks in
                    tasks.addTask(executorPreference: Prefetcher.decoding) { [facts, paths] in
                        facts.importFortunes(paths())
                    }
                    tasks.addTask { [clock, changes] in
                        while (try? await clock.sleep(for: FortuneService.statusInterval)) != nil { changes.set() }
                        return []
                    }
                    _ = await tasks.next()
                    tasks.cancelAll()
                }
                changes.set()
            }
        } onGracefulShutdown: {
            facts.stopFortunes()
        }
    }
}
