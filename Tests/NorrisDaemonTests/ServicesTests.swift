import Foundation
import Glibc
import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisThreads
import NorrisTestSupport
import ServiceLifecycle
import SystemdIntegration
import Testing

@testable import NorrisDaemon
@testable import NorrisStore

/// No fact repeats early, however the daemon ends.
@Suite(.timeLimit(.minutes(20))) struct StoreServiceTests {
    private let clock = ManualClock(.ofTests)
    private let folder = TemporaryFolder()
    private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    private func open(_ state: String) async throws -> (databases: Databases, stores: Stores) {
        let databases = try await Databases(cacheFolder: folder("cache"), stateFolder: folder(state), logger: logger)
        let stores = await Stores(databases: databases)
        await stores.readState()
        return (databases, stores)
    }

    private func take(_ count: Int, of facts: FactStore) -> [String] {
        (0..<count).compactMap { _ in
            let draw = facts.next(1, uid: 1, filter: FactFilter())
            return draw.first.map { draw.catalogue.fact($0).id }
        }
    }

    private func service(_ databases: Databases, _ stores: Stores) -> StoreService {
        StoreService(databases: databases, stores: stores, clock: clock)
    }

    /// Returns all facts that a daemon with this state serves before a repetition.
    private func rest(_ state: String, after count: Int) async throws -> Set<String> {
        let (databases, stores) = try await open(state)
        let rest = Set(take(stores.facts.catalogue.count - count, of: stores.facts))
        await databases.close()
        return rest
    }

    @Test func whatMovedIsWrittenSoonAfter() async throws {
        let (databases, stores) = try await open("state")
        let facts = stores.facts
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await service(databases, stores).run() }
            defer { tasks.cancelAll() }
            // Waits for the first sleep of the service.
            await clock.untilAsleep()
            let drawn = take(10, of: facts)
            let sleeps = clock.sleeps
            // The first fact may have woken the service, which then sleeps once more with other facts unwritten. All
            // are written before its second sleep. A served GIF wakes it without a change of the shuffle.
            await eventually {
                clock.advance(by: .seconds(1))
                facts.noteServed("gif", .gif, uid: 2)
                return clock.sleeps >= sleeps + 2
            }
            try FileManager.default.copyItem(atPath: folder("state"), toPath: folder("killed"))
            #expect(try await rest("killed", after: 10).isDisjoint(with: drawn))
        }
    }

    @Test func aStopWritesTheRestAtOnce() async throws {
        let (databases, stores) = try await open("state")
        let facts = stores.facts
        let group = ServiceGroup(services: [service(databases, stores)], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            await clock.untilAsleep()
            let drawn = take(10, of: facts)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            #expect(try await rest("state", after: 10).isDisjoint(with: drawn))
            // The copy has it too.
            for name in ["state.db", "state.db-wal", "state.db-shm"] { unlink(folder("state/\(name)")) }
            #expect(try await rest("state", after: 10).isDisjoint(with: drawn))
        }
    }

    /// The daemon serves requests while it reads the files, and a stop does not wait for the end of the reading.
    @Test func fortuneFilesAreReadInTheBackground() async throws {
        let (databases, stores) = try await open("state")
        let facts = stores.facts
        let builtin = facts.catalogue.count
        let path = try folder.write((0..<3_000).map { "Fortune \($0)." }.joined(separator: "\n%\n"), to: "jokes")
        let fortunes = FortuneService(facts: facts, clock: clock) { [path] }
        let group = ServiceGroup(services: [service(databases, stores), fortunes], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            await eventually { facts.catalogue.count >= builtin + 3_000 }
            #expect(facts.catalogue.categories(of: .fortune).map(\.count) == [3_000])
            // A changed file is read within a minute.
            _ = try folder.write("Another one.", to: "jokes")
            await eventually {
                clock.advance(by: .seconds(30))
                return facts.catalogue.count == builtin + 1
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }
}

/// Tests of periodic work, with a manual clock.
@Suite(.timeLimit(.minutes(20))) struct MaintenanceServiceTests {
    private let clock = ManualClock(.ofTests)

    /// Runs the service beside a daemon while the body advances the clock.
    private func run(_ body: (FetchingDaemon) async throws -> Void) async throws {
        try await FetchingDaemon.run(clock: clock, fetches: false) { daemon, _ in
            let file = PromptFile(folder: daemon.folder("run"))
            let service = MaintenanceService(
                sources: daemon.core.sources, health: daemon.core.health, databases: daemon.databases,
                statusChanges: daemon.core.statusChanges,
                promptFacts: PromptFactsWriter(
                    file: file, facts: daemon.store, scope: { .all }, logger: LogRecorder().logger))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await service.run() }
                defer { tasks.cancelAll() }
                await clock.untilAsleep()
                try await body(daemon)
            }
        }
    }

    /// Advances the clock, and returns when the service has done the due work.
    private func advance(by duration: Duration) async {
        clock.advance(by: duration)
        await clock.untilAsleep()
    }

    @Test func promptsGetOtherFactsEveryTenMinutes() async throws {
        try await run { daemon in
            let path = daemon.folder("run/prompt-facts")
            func content() -> String? { try? String(contentsOfFile: path, encoding: .utf8) }
            await advance(by: .seconds(599))
            #expect(content() == nil)
            await advance(by: .seconds(1))
            let first = try #require(content())
            await advance(by: .seconds(540))
            #expect(content() == first)
            await advance(by: .seconds(60))
            #expect(content() != first)
        }
    }

    @Test func aDeletedCacheIsNoticedWithinAMinute() async throws {
        try await run { daemon in
            let facts = daemon.store.catalogue.count
            try FileManager.default.removeItem(atPath: daemon.folder("cache"))
            await advance(by: .seconds(60))
            #expect(FileManager.default.fileExists(atPath: daemon.folder("cache/cache.db")))
            #expect(daemon.store.catalogue.count == facts)
            #expect(daemon.databases.faults.count == 1 && !daemon.databases.isReadOnly)
        }
    }

    /// The clock jumps over the fifth minute, as when the machine slept.
    @Test func theStateIsCopiedWithinTenMinutesOfAChange() async throws {
        try await run { daemon in
            let favorite = Favorite(fact: Fact(id: "f", text: "A fact.", categories: [], source: "chucknorris"))
            let isAdded = try await Favorites(databases: daemon.databases).add(favorite, uid: 1)
            #expect(isAdded)
            await advance(by: .seconds(299))
            #expect(!FileManager.default.fileExists(atPath: daemon.folder("state/state.db.bak")))
            await advance(by: .seconds(121))
            #expect(FileManager.default.fileExists(atPath: daemon.folder("state/state.db.bak")))
        }
    }

    @Test func whatIsPastItsTimeLeavesTheDisk() async throws {
        try await run { daemon in
            let stores = daemon.core.stores
            try await SeededContent.put(into: stores, at: clock.now)
            #expect(stores.gifs.count == 1)
            await advance(by: .hours(24) + .seconds(300))
            #expect(stores.gifs.count == 0)
        }
    }
}

/// Tests of the degraded state that subscribers see.
@Suite(.timeLimit(.minutes(20))) struct NotifierServiceTests {
    @Test func onlyChangesArePublished() async throws {
        try await FetchingDaemon.run(fetches: false) { daemon, upstream in
            let core = daemon.core
            let subscriber = try daemon.client()
            let _: EventSubscribe.Result = try subscriber.call(EventSubscribe.self, #"{"topics":["server"]}"#)
            let service = NotifierService(
                notifier: Notifier(), health: core.health, events: core.events,
                changes: core.statusChanges)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                // A separate thread, because the test's thread waits for the published events.
                tasks.addTask(executorPreference: BackgroundThreads.background) { try await service.run() }
                defer { tasks.cancelAll() }
                await #expect(throws: ConfigurationError.self) {
                    try await daemon.reload(upstream, facts: ", queries: [ab]")
                }
                #expect(try subscriber.receiveEvent().phase == .degraded)
                await #expect(throws: ConfigurationError.self) {
                    try await daemon.reload(upstream, facts: ", queries: [abc, ab]")
                }
                try await daemon.reload(upstream, facts: "")
                #expect(try subscriber.receiveEvent().phase == .reloaded)
                #expect(try subscriber.receiveEvent().phase == .ok)
            }
        }
    }

    /// A failed refresh does not degrade the daemon until it has failed for a day.
    @Test func contentThatCannotBeRefreshedDegrades() async throws {
        let clock = ManualClock(.ofTests)
        try await FetchingDaemon.run(clock: clock, facts: ", refresh: 1h") { daemon, upstream in
            let core = daemon.core
            try daemon.watch.wait(for: .finished)
            upstream.setFault(.status(503))
            _ = try daemon.refresh()
            try daemon.watch.wait(for: .failed)
            func status() -> ServerStatus.Result { core.health.status }
            #expect(status().state == .ok)
            // More often than the machine could have slept.
            for _ in 0..<32 {
                clock.advance(by: .seconds(2_699))
                _ = try daemon.refresh()
                try daemon.watch.wait(for: .failed)
                #expect(status().state == .ok)
            }
            clock.advance(by: .seconds(86_400 - 32 * 2_699))
            #expect(status().state == .degraded)
            #expect(status().message.hasSuffix("Sources that could not be refreshed in time: facts"))
            // GIFs have no key here, which is not a fault.
            let gifs = try #require(status().sources.first { $0.name == "gifs" })
            #expect(gifs.isConfigured == false && gifs.isEnabled)
            upstream.setFault(nil)
            _ = try daemon.refresh()
            try daemon.watch.wait(for: .finished)
            #expect(status().state == .ok)
            clock.advance(by: .seconds(36_000))
            #expect(status().state == .ok)
        }
    }
}

struct FetchLineTests {
    /// In a separate process, because the test sets the time zone.
    @Test func timesAreLocalAndHaveADayWhereItIsNotClear() async {
        await #expect(processExitsWith: .success) {
            setenv("TZ", "Asia/Kolkata", 1)
            let now = try #require(Timestamp("2026-11-22T23:00:00Z"))
            func text(_ next: String) -> String { Health.fetchLine(running: [], next: Timestamp(next), now: now) }
            #expect(Health.fetchLine(running: ["facts", "town"], next: nil, now: now) == "fetching facts, town")
            #expect(text("2026-11-23T08:35:59Z") == "next fetch 14:05")
            #expect(text("2026-11-23T22:59:59Z") == "next fetch 04:29")
            #expect(text("2026-11-23T23:00:00Z") == "next fetch 2026-11-24 04:30")
            // The fetch is due, but waits for other fetches.
            #expect(text("2026-11-22T22:59:00Z") == "next fetch 04:29")
            setenv("TZ", "UTC", 1)
            #expect(text("2026-11-23T08:35:59Z") == "next fetch 08:35")
        }
    }
}

struct CurrentProcessTests {
    @Test func theMachineIsIdentifiedByTheFileOrElseByTheHostsName() throws {
        let folder = TemporaryFolder()
        let file = try folder.write("0123456789abcdef0123456789abcdef\n", to: "machine-id")
        #expect(CurrentProcess.machineID(file: file) == "0123456789abcdef0123456789abcdef\n")
        let name = CurrentProcess.machineID(file: folder("none"))
        #expect(!name.isEmpty && ProcessInfo.processInfo.hostName.hasPrefix(name))
        #expect(CurrentProcess.machineID(file: try folder.write("", to: "empty")) == name)
    }
}
