import Foundation
import Logging
import NorrisProtocol
import NorrisStore
import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisDaemon

/// What is done now and then, by a clock that the test turns.
@Suite(.timeLimit(.minutes(20)))
struct MaintenanceServiceTests {
    private let clock = ManualClock(.ofTests)
    private let recorder = LogRecorder()
    private let recording = RecordingSink()
    private let sink: RepeatLimitingSink

    init() {
        sink = RepeatLimitingSink(recording, clock: clock)
    }

    /// Lets the service run beside a daemon while the body turns the clock.
    private func run(_ body: (FetchingDaemon) async throws -> Void) async throws {
        let upstream = try await FakeUpstream.start()
        try await FetchingDaemon.run(upstream, clock: clock, fetches: false) { daemon in
            let file = PromptFile(folder: daemon.folder("run"))
            let service = MaintenanceService(
                handlers: daemon.handlers, databases: daemon.databases, sink: sink,
                promptFacts: PromptFactsWriter(file: file, facts: daemon.store, scope: { .all }, logger: recorder.logger),
                logger: recorder.logger
            )
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await service.run() }
                defer { tasks.cancelAll() }
                await clock.untilAsleep()
                try await body(daemon)
            }
        }
        await upstream.stop()
    }

    /// Turns the clock, and returns when the service has done what is due.
    private func advance(by duration: Duration) async {
        clock.advance(by: duration)
        await clock.untilAsleep()
    }

    @Test func theStatusTellsTheRequestsOfEachMinute() async throws {
        try await run { daemon in
            // The requests of administrators are those that are counted here.
            let client = try daemon.client(.administrator)
            func minutes() throws -> [Int]? {
                try client.call(ServerStatus.description, as: ServerStatus.Result.self).requestsPerMinute
            }
            #expect(try minutes() == [1])
            #expect(try minutes() == [2])
            for _ in 0..<3 { await advance(by: .seconds(60)) }
            // Nobody asked in two of the minutes, and none was lumped with another.
            #expect(try minutes() == [2, 0, 0, 1])
            await advance(by: .seconds(59))
            #expect(try minutes() == [2, 0, 0, 2])
            await advance(by: .seconds(1))
            #expect(try minutes() == [2, 0, 0, 2, 1])
        }
    }

    @Test func whatTheLogHeldBackIsWritten() async throws {
        let logger = Logger(label: "test") { [sink] _ in DaemonLogHandler(levels: LogLevelSwitch(.info), sink: sink) }
        for _ in 0..<9 { logger.warning("source.failed", metadata: ["source": "town"]) }
        try await run { _ in
            await advance(by: RepeatLimitingSink.window - .seconds(60))
            #expect(recording.lines.count == 5)
            await advance(by: .seconds(60))
            #expect(recording.lines.last == "source.failed town x4")
        }
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
            let facts = daemon.store.count
            try FileManager.default.removeItem(atPath: daemon.folder("cache"))
            await advance(by: .seconds(30))
            #expect(recorder.lines.contains("notice cache.made-anew"))
            #expect(FileManager.default.fileExists(atPath: daemon.folder("cache/cache.db")))
            #expect(daemon.store.count == facts)
            try FileManager.default.removeItem(atPath: daemon.folder("state/state.db"))
            await advance(by: .seconds(30))
            #expect(daemon.databases.faults == ["state.db was deleted under the daemon: restart it"])
        }
    }

    @Test func whatIsPastItsTimeLeavesTheDisk() async throws {
        try await run { daemon in
            let stores = daemon.handlers.fetching.stores
            try await SeededContent.put(into: stores, at: clock.now)
            #expect(stores.gifs.count == 1)
            await advance(by: .hours(24) + .seconds(300))
            #expect(stores.gifs.count == 0)
        }
    }

    @Test func freePagesGoBackToTheFileSystemWithinFiveMinutes() async throws {
        try await run { daemon async throws in
            let favorites = daemon.handlers.fetching.stores.favorites
            let text = String(repeating: "x", count: 60_000)
            let author = Post.Author(id: "town:1", name: "Ada")
            let items = (0..<140).map { number in
                Favorite(post: Post(id: "town:\(number)", source: "town", author: author, text: text))
            }
            #expect(try await favorites.import(items, uid: 1).added == items.count)
            for item in items { #expect(try await favorites.remove(.post, id: item.id, uid: 1)) }
            func size() throws -> Int {
                try FileManager.default.attributesOfItem(atPath: daemon.folder("state/state.db"))[.size] as? Int ?? 0
            }
            let full = try size()
            #expect(full > 8 << 20)
            await advance(by: .seconds(299))
            #expect(try size() == full)
            await advance(by: .seconds(1))
            #expect(try size() < full - (3 << 20))
        }
    }
}
