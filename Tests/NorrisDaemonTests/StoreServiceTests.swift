import Foundation
import Logging
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
        let databases = try Databases(cacheFolder: nil, stateFolder: folder(state), logger: logger)
        let facts = FactStore(databases: databases, logger: logger)
        facts.importStartingCollection()
        return (databases, facts)
    }

    private func take(_ count: Int, of facts: FactStore) -> [[UInt8]] {
        facts.next(count, uid: 1, filter: WalkFilter()).map(\.wire)
    }

    /// All facts that a daemon with this state gives out before any comes again.
    private func rest(_ state: String, after count: Int) throws -> Set<[UInt8]> {
        let (databases, facts) = try open(state)
        defer { databases.close() }
        return Set(take(facts.count - count, of: facts))
    }

    @Test func whatMovedIsWrittenSoonAfter() async throws {
        let (databases, facts) = try open("state")
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await StoreService(databases: databases, facts: facts, clock: clock).run() }
            defer { tasks.cancelAll() }
            // That of the start.
            await clock.untilAsleep()
            let given = take(10, of: facts)
            let sleeps = clock.sleeps
            clock.advance(by: .seconds(1))
            // A further move wakes the service only after the first were written.
            while clock.sleeps == sleeps, !Task.isCancelled {
                await Task.yield()
                _ = take(1, of: facts)
            }
            try FileManager.default.copyItem(atPath: folder("state"), toPath: folder("killed"))
            #expect(try rest("killed", after: 10).isDisjoint(with: given))
        }
    }

    @Test func aStopWritesTheRestAtOnce() async throws {
        let (databases, facts) = try open("state")
        let service = StoreService(databases: databases, facts: facts, clock: clock)
        let group = ServiceGroup(services: [service], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            await clock.untilAsleep()
            let given = take(10, of: facts)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            #expect(try rest("state", after: 10).isDisjoint(with: given))
        }
    }
}
