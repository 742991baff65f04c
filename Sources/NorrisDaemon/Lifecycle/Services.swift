import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import NorrisThreads
import ServiceLifecycle
import SystemdIntegration

/// Writes changed shuffles and recent searches soon after the change, and closes the databases at the end.
struct StoreService: Service {
    let databases: Databases
    let stores: Stores
    let clock: any WallClock

    /// After a crash, only facts of the last second can be served again.
    private static let delay = Duration.milliseconds(500)
    /// The time for the copy of the state at the end. If it is too short, the previous copy stays.
    private static let lastCopyLimit = Duration.milliseconds(700)
    /// The wait after a failed write if nothing changes.
    private static let retryDelay = Duration.seconds(5)

    func run() async throws {
        let changed = WakeSignal()
        stores.onChange { changed.set() }
        // Something may have changed before.
        changed.set()
        var isWritten = true
        await changed.repeatUntilStopped { stop in
            await changed.wait(atMost: isWritten ? nil : StoreService.retryDelay, on: clock)
            // Changes during the wait are written together.
            if !stop.isCancelled { await changed.wait(atMost: StoreService.delay, on: clock) }
            isWritten = await stores.writeChanges()
        }
        _ = await stores.writeChanges()
        await databases.backUp(within: StoreService.lastCopyLimit)
        await databases.close()
    }
}

/// Reads fortune files at the start, on request, and when they change.
struct FortuneService: Service {
    let facts: FactStore
    let clock: any WallClock
    /// The files and folders of the configuration in force.
    let paths: @Sendable () -> [String]

    /// How often the files are checked for changes.
    private static let interval = Duration.seconds(30)

    func run() async throws {
        let wanted = WakeSignal()
        facts.onFortunesWanted { wanted.set() }
        wanted.set()
        await wanted.repeatUntilStopped { stop in
            // An idle daemon without fortune files does not wake up.
            await wanted.wait(atMost: paths().isEmpty ? nil : FortuneService.interval, on: clock)
            guard !stop.isCancelled else { return }
            await BackgroundThreads.facts.run { _ in facts.readFortunes(paths()) { stop.isCancelled } }
        }
    }
}

/// Periodic work in one loop with one sleep, so that an idle daemon wakes up once a minute.
struct MaintenanceService: Service {
    let sources: ConfiguredSources
    let health: Health
    let databases: Databases
    /// Set when the status may have changed.
    let statusChanges: WakeSignal
    /// nil without a runtime directory.
    let promptFacts: PromptFactsWriter?

    private static let interval: Int64 = 60
    /// The minutes between copies of the state, and between new prompt facts.
    static let (copyInterval, promptFactsInterval) = (Int64(5), Int64(10))
    /// A disk is used again soon after it can be written.
    private static let intervalAfterFailure: Int64 = 5

    func run() async throws {
        let changed = WakeSignal()
        databases.onChange {
            changed.set()
            statusChanges.set()
        }
        var followed = databases.condition
        // The disk of a daemon before may have been full.
        if !followed.isCacheFailing { sources.cacheIsWritable() }
        await sources.removeExpired()
        try? await sources.stores.posts.mutes.workOut()
        CurrentProcess.releaseMappedCode()
        var minute = health.uptime.components.seconds / 60
        await changed.repeatUntilStopped { stop in
            let interval =
                databases.isReadOnly ? MaintenanceService.intervalAfterFailure : MaintenanceService.interval
            let (seconds, attoseconds) = health.uptime.components
            let passed = Duration(secondsComponent: seconds % interval, attosecondsComponent: attoseconds)
            await changed.wait(atMost: .seconds(interval) - passed, on: sources.clock)
            guard !stop.isCancelled else { return }
            await databases.heal()
            await follow(&followed)
            let (before, now) = (minute, health.uptime.components.seconds / 60)
            guard now > before else { return }
            minute = now
            // Also if the machine slept through a multiple.
            func hasPassed(multipleOf minutes: Int64) -> Bool { now / minutes > before / minutes }
            sources.prefetcher.readClock()
            // The first fetches have used as many pages again.
            if minute == 1 { CurrentProcess.releaseMappedCode() }
            CurrentProcess.releaseFreeMemory()
            // Expired content is never shown, so removal can wait.
            if hasPassed(multipleOf: Self.copyInterval) {
                await sources.removeExpired()
                await databases.backUp(isCancelled: stop)
            }
            if let promptFacts, hasPassed(multipleOf: Self.promptFactsInterval) {
                await BackgroundThreads.background.run { promptFacts.write($0) }
            }
            statusChanges.set()
        }
    }

    /// Reads or writes again what belongs to a file that was replaced or can be written again.
    private func follow(_ followed: inout Databases.Condition) async {
        let old = followed
        followed = databases.condition
        if followed.cacheGeneration != old.cacheGeneration {
            await sources.cacheWasReplaced()
        } else if old.isCacheFailing, !followed.isCacheFailing {
            sources.cacheIsWritable()
        }
        if followed.stateGeneration != old.stateGeneration { await sources.readState() }
    }
}

/// Publishes the number of unread posts to each subscribed user after it has changed, at most once a second.
struct UnreadService: Service {
    let sources: ConfiguredSources
    let events: EventHub

    private static let interval = Duration.seconds(1)

    func run() async throws {
        let (changes, posts) = (sources.stores.unreadChanges, sources.stores.posts)
        let pause = WakeSignal()
        var published: [UInt32: Int] = [:]
        await changes.signal.repeatUntilStopped { stop in
            await changes.signal.wait()
            let (changed, users) = (changes.take(), events.users(of: .read))
            published = published.filter { users.contains($0.key) }
            for uid in users where !stop.isCancelled {
                let read = await sources.stores.readMarks.read(uid: uid)
                let names = sources.current.postNames
                guard let unread = try? await posts.unread(sources: names, read: read).count,
                    changed.contains(uid) || published[uid] != unread
                else { continue }
                published[uid] = unread
                events.publish(.read(unread: unread), to: uid)
            }
            await withGracefulShutdownHandler {
                if !stop.isCancelled { await pause.wait(atMost: UnreadService.interval, on: sources.clock) }
            } onGracefulShutdown: {
                pause.set()
            }
        }
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
        await changes.repeatUntilStopped { stop in
            await changes.wait()
            guard !stop.isCancelled else { return }
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
