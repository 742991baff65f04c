import Logging
import NorrisStore
import ServiceLifecycle

/// Writes down what moves in memory, watches the cache's file, and closes the databases at the end.
struct StoreService: Service {
    let databases: Databases
    let facts: FactStore
    let settings: Settings
    let logger: Logger

    /// After a crash, facts of the last second may come again, and no others.
    private static let writeInterval = Duration.milliseconds(500)
    /// A deleted cache is noticed within a minute.
    private static let checkInterval = Duration.seconds(20)

    func run() async throws {
        var sinceCheck = Duration.zero
        // cancelWhenGracefulShutdown would cut a write short; the sleep alone is what may be cut.
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: StoreService.writeInterval) }
            await facts.writeWalks()
            sinceCheck += StoreService.writeInterval
            if sinceCheck >= StoreService.checkInterval {
                sinceCheck = .zero
                refillDeletedCache()
            }
        }
        await facts.writeWalks()
        databases.close()
    }

    private func refillDeletedCache() {
        guard databases.reopenCacheIfDeleted(logger) else { return }
        facts.refill(fortunes: settings.configuration.facts.fortunes)
    }
}
