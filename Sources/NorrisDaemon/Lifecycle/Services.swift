import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import NorrisThreads
import ServiceLifecycle
import SystemdIntegration

/// Writes changed shuffles soon after the change, and closes the databases at the end.
struct StoreService: Service {
    let databases: Databases
    let facts: FactStore
    let clock: any WallClock

    /// After a crash, only facts of the last second can be served again.
    private static let delay = Duration.milliseconds(500)
    /// The wait after a failed write if no shuffle changes.
    private static let retryDelay = Duration.seconds(5)

    func run() async throws {
        let moved = WakeSignal()
        facts.onMove { moved.set() }
        // A shuffle may have changed before.
        moved.set()
        var isWritten = true
        await moved.repeatUntilStopped {
            if isWritten { await moved.wait() } else { await moved.wait(atMost: StoreService.retryDelay, on: clock) }
            // Changes during the wait are written together.
            if !Task.isShuttingDownGracefully { await moved.wait(atMost: StoreService.delay, on: clock) }
            isWritten = await facts.writeShuffles()
        }
        await facts.writeShuffles()
        await BackgroundThreads.background.run { databases.close($0) }
    }
}

/// Reads fortune files at the start and on request, while the daemon serves.
struct FortuneService: Service {
    let facts: FactStore
    let clock: any WallClock
    /// Set when the status may have changed.
    let changes: WakeSignal
    /// The files and folders of the configuration in force.
    let paths: @Sendable () -> [String]

    /// How often the status shows the progress of the import.
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
                    tasks.addTask { [facts, paths] in
                        await BackgroundThreads.decoding.run { facts.importFortunes(paths(), $0) }
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

/// Periodic work in one loop with one sleep, so that an idle daemon wakes up twice a minute.
struct MaintenanceService: Service {
    let control: SourceControl
    let health: Health
    let databases: Databases
    /// Set when the status may have changed.
    let statusChanges: WakeSignal
    let sink: RepeatLimitingSink
    /// nil without a runtime directory.
    let promptFacts: PromptFactsWriter?

    /// A deleted cache is noticed within a minute. The interval divides a minute, at whose end requests are counted.
    private static let interval: Int64 = 30

    func run() async throws {
        let stop = WakeSignal()
        databases.onDamage { stop.set() }
        await control.removeExpired()
        // Requests are answered from the undamaged files in the meantime.
        await BackgroundThreads.decoding.run { databases.checkCache($0) }
        await checkDatabases()
        CurrentProcess.releaseMappedCode()
        var minute = health.uptime.components.seconds / 60
        await stop.repeatUntilStopped {
            let (seconds, attoseconds) = health.uptime.components
            let passed = Duration(
                secondsComponent: seconds % MaintenanceService.interval, attosecondsComponent: attoseconds)
            await stop.wait(atMost: .seconds(MaintenanceService.interval) - passed, on: control.clock)
            guard !Task.isShuttingDownGracefully else { return }
            await checkDatabases()
            let now = health.uptime.components.seconds / 60
            guard now > minute else { return }
            minute = now
            // The first fetches have used as many pages again.
            if minute == 1 { CurrentProcess.releaseMappedCode() }
            health.requests()
            sink.writeEnded()
            // Expired content is never shown, so removal can wait.
            if minute % 5 == 0 {
                await control.removeExpired()
                await BackgroundThreads.background.run { databases.releaseFreePages($0) }
            }
            if let promptFacts, minute % 10 == 0 {
                await BackgroundThreads.background.run { promptFacts.write($0) }
            }
            statusChanges.set()
        }
    }

    /// Recreates lost files of the cache, measures disk space, and returns free memory; in one call, because each call
    /// wakes two threads.
    private func checkDatabases() async {
        let lost = await BackgroundThreads.background.run { access in
            databases.checkState(access)
            databases.measureSpace(access)
            let lost = databases.recreateLostCaches(access)
            control.stores.refill(lost, access)
            CurrentProcess.releaseFreeMemory()
            return lost
        }
        await control.cacheWasLost(lost)
    }
}

/// Updates the service manager's status line, and publishes an event when the daemon becomes degraded, ok or stops.
struct NotifierService: Service {
    private let notifier: Notifier
    private let health: Health
    private let events: EventHub
    /// Set when the status may have changed.
    private let changes: WakeSignal
    private let startsDegraded: Bool

    init(notifier: Notifier, health: Health, events: EventHub, changes: WakeSignal) {
        (self.notifier, self.health, self.events, self.changes) = (notifier, health, events, changes)
        startsDegraded = !health.faults.isEmpty
    }

    func run() async throws {
        var shown = ""
        var wasDegraded = startsDegraded
        await changes.repeatUntilStopped {
            await changes.wait()
            guard !Task.isShuttingDownGracefully else { return }
            let line = health.statusLine
            if line != shown {
                notifier.status(line)
                shown = line
            }
            let isDegraded = !health.faults.isEmpty
            if isDegraded != wasDegraded { events.publish(.server(isDegraded ? .degraded : .ok)) }
            wasDegraded = isDegraded
        }
        notifier.stopping(status: "stopping")
    }
}
