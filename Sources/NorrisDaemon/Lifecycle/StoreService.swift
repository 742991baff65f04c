import Logging
import NorrisPrefetch
import NorrisStore
import ServiceLifecycle

/// Writes down what moves in memory, watches the cache's file, and closes the databases at the end.
struct StoreService: Service {
    let databases: Databases
    let facts: FactStore
    let settings: Settings
    let fetching: Fetching
    let logger: Logger

    /// After a crash, facts of the last second may come again, and no others.
    private static let writeInterval = Duration.milliseconds(500)
    /// A deleted cache is noticed within a minute.
    private static let checkInterval = Duration.seconds(20)

    /// What is past its time is not shown from that moment on; it leaves the disk a little later.
    private static let expiryInterval = Duration.seconds(60)

    func run() async throws {
        await fetching.removeExpired()
        await withDiscardingTaskGroup { tasks in
            tasks.addTask { await every(StoreService.writeInterval) { await facts.writeWalks() } }
            // A task of its own: to fill a cache anew may take longer than walks may wait.
            tasks.addTask { await every(StoreService.checkInterval, refillDeletedCache) }
            tasks.addTask { await every(StoreService.expiryInterval, fetching.removeExpired) }
        }
        await facts.writeWalks()
        databases.close()
    }

    /// Does something again and again until the daemon stops.
    private func every(_ interval: Duration, _ body: () async -> Void) async {
        // cancelWhenGracefulShutdown would cut the body short; the sleep alone is what may be cut.
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
            await body()
        }
    }

    private func refillDeletedCache() async {
        await withTaskExecutorPreference(Prefetcher.background) {
            databases.checkState(logger)
            guard databases.reopenCacheIfDeleted(logger) else { return }
            facts.refill(fortunes: settings.configuration.facts.fortunes)
            fetching.cacheWasLost()
        }
    }
}
