import Logging
import NorrisPrefetch
import NorrisStore
import ServiceLifecycle

/// Does what is done now and then, in one loop with one sleep, so that an idle daemon wakes up twice a minute.
struct MaintenanceService: Service {
    let handlers: Handlers
    let databases: Databases
    let sink: RateLimitedSink
    /// nil without a runtime directory.
    let promptFacts: PromptFactsWriter?
    let logger: Logger

    /// A deleted cache is noticed within a minute. Divides a minute, at whose end requests are counted.
    private static let interval: Int64 = 30

    func run() async throws {
        let (fetching, health) = (handlers.fetching, handlers.health)
        let stop = WakeSignal()
        await fetching.removeExpired()
        var minute = health.uptime.components.seconds / 60
        await stop.repeatUntilStopped {
            let (seconds, attoseconds) = health.uptime.components
            let passed = Duration(
                secondsComponent: seconds % MaintenanceService.interval, attosecondsComponent: attoseconds
            )
            await stop.wait(atMost: .seconds(MaintenanceService.interval) - passed, on: fetching.environment.clock)
            guard !Task.isShuttingDownGracefully else { return }
            databases.checkState(logger)
            if databases.isCacheDeleted { await refillCache() }
            let now = health.uptime.components.seconds / 60
            guard now > minute else { return }
            minute = now
            _ = health.requests()
            sink.writeEnded()
            // Nobody is shown what is past its time meanwhile.
            if minute % 5 == 0 { await fetching.removeExpired() }
            if let promptFacts, minute % 10 == 0 {
                await withTaskExecutorPreference(Prefetcher.background) { promptFacts.write() }
            }
            fetching.changes.set()
        }
    }

    private func refillCache() async {
        await withTaskExecutorPreference(Prefetcher.background) {
            guard databases.reopenCacheIfDeleted(logger) else { return }
            handlers.fetching.stores.facts.refill(fortunes: handlers.settings.configuration.facts.fortunes)
            handlers.fetching.cacheWasLost()
        }
    }
}
