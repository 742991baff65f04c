import Foundation
import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisTestSupport
import ServiceLifecycle
import Testing

@testable import NorrisDaemon

/// No fact comes twice, however the daemon ends.
@Suite(.timeLimit(.minutes(20)))
struct StoreServiceTests {
    private let clock = ManualClock()
    private let folder = TemporaryFolder()
    private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    private func open(_ state: String) throws -> (databases: Databases, facts: FactStore) {
        let databases = try Databases(cacheFolder: folder("cache"), stateFolder: folder(state), logger: logger)
        let facts = FactStore(databases: databases, logger: logger)
        facts.importStartingCollection()
        return (databases, facts)
    }

    private func take(_ count: Int, of facts: FactStore) async throws -> [[UInt8]] {
        try await facts.nextReading(count, uid: 1, filter: ShuffleFilter()).facts
    }

    private func service(_ databases: Databases, _ facts: FactStore) -> StoreService {
        StoreService(databases: databases, facts: facts, clock: clock)
    }

    /// All facts that a daemon with this state gives out before any comes again.
    private func rest(_ state: String, after count: Int) async throws -> Set<[UInt8]> {
        let (databases, facts) = try open(state)
        defer { databases.close() }
        return Set(try await take(facts.count - count, of: facts))
    }

    @Test func whatMovedIsWrittenSoonAfter() async throws {
        let (databases, facts) = try open("state")
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await service(databases, facts).run() }
            defer { tasks.cancelAll() }
            // That of the start.
            await clock.untilAsleep()
            let given = try await take(10, of: facts)
            let sleeps = clock.sleeps
            clock.advance(by: .seconds(1))
            // A further move wakes the service only after the first were written.
            while clock.sleeps == sleeps, !Task.isCancelled {
                await Task.yield()
                _ = try await take(1, of: facts)
            }
            try FileManager.default.copyItem(atPath: folder("state"), toPath: folder("killed"))
            #expect(try await rest("killed", after: 10).isDisjoint(with: given))
        }
    }

    @Test func aStopWritesTheRestAtOnce() async throws {
        let (databases, facts) = try open("state")
        let group = ServiceGroup(services: [service(databases, facts)], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            await clock.untilAsleep()
            let given = try await take(10, of: facts)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            #expect(try await rest("state", after: 10).isDisjoint(with: given))
        }
    }

    /// The daemon serves while they are read; a stop does not wait for their end.
    @Test func fortuneFilesAreReadInTheBackground() async throws {
        let (databases, facts) = try open("state")
        let builtin = facts.count
        let path = try folder.write((0..<3_000).map { "Fortune \($0)." }.joined(separator: "\n%\n"), to: "jokes")
        let fortunes = FortuneService(facts: facts, clock: clock, changes: WakeSignal()) { [path] }
        let group = ServiceGroup(services: [service(databases, facts), fortunes], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            while facts.count < builtin + 3_000, !Task.isCancelled { await Task.yield() }
            #expect(facts.categories(of: .fortune).map(\.count) == [3_000])
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }
}
