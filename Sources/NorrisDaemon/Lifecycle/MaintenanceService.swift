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
        databases.onDamage { stop.set() }
        await fetching.removeExpired()
        // Whoever asks meanwhile is answered from what is not damaged.
        await withTaskExecutorPreference(Prefetcher.decoding) { databases.checkCache(logger) }
        if databases.isCacheLost { await recreateCache() }
        releaseMappedCode()
        var minute = health.uptime.components.seconds / 60
        await stop.repeatUntilStopped {
            let (seconds, attoseconds) = health.uptime.components
            let passed = Duration(
                secondsComponent: seconds % MaintenanceService.interval, attosecondsComponent: attoseconds
            )
            await stop.wait(atMost: .seconds(MaintenanceService.interval) - passed, on: fetching.environment.clock)
            guard !Task.isShuttingDownGracefully else { return }
            databases.checkState(logger)
            if databases.isCacheLost { await recreateCache() }
            let now = health.uptime.components.seconds / 60
            guard now > minute else { return }
            minute = now
            // The first fetches have touched as much again.
            if minute == 1 { releaseMappedCode() }
            _ = health.requests()
            sink.writeEnded()
            // Nobody is shown what is past its time meanwhile.
            if minute % 5 == 0 {
                await fetching.removeExpired()
                await withTaskExecutorPreference(Prefetcher.background) { databases.releaseFreePages(logger) }
            }
            if let promptFacts, minute % 10 == 0 {
                await withTaskExecutorPreference(Prefetcher.background) { promptFacts.write() }
            }
            fetching.changes.set()
        }
    }

    private func recreateCache() async {
        await withTaskExecutorPreference(Prefetcher.background) {
            guard databases.recreateLostCache(logger) else { return }
            handlers.fetching.stores.facts.refill()
            handlers.fetching.cacheWasLost()
        }
    }
}
