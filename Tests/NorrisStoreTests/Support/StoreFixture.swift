import Foundation
import Logging
import NorrisProtocol

@testable import NorrisStore

/// A store on disk that a test can close and open again, as a daemon that stops and starts.
struct StoreFixture {
    let folder = ScratchFolder()

    var cacheFolder: String { folder["cache"] }
    var stateFolder: String { folder["state"] }

    func databases() throws -> Databases {
        try Databases(cacheFolder: cacheFolder, stateFolder: stateFolder, logger: .silent)
    }

    /// Opens the store; whoever opened it closes its databases.
    func open() throws -> FactStore {
        FactStore(databases: try databases(), logger: .silent)
    }

    /// A start, something, and a clean stop.
    func run<Result>(_ body: (FactStore) async throws -> Result) async throws -> Result {
        let store = try open()
        let result = try await body(store)
        await store.writeWalks()
        store.databases.close()
        return result
    }

    /// What is left on the disk when the daemon is killed now: the databases with their logs.
    func killed() throws -> StoreFixture {
        let copy = StoreFixture()
        for name in ["cache", "state"] where folder.exists(name) {
            try FileManager.default.copyItem(atPath: folder[name], toPath: copy.folder[name])
        }
        return copy
    }
}

extension FactStore {
    /// A store that is nowhere on a disk.
    static func inMemory() throws -> FactStore {
        FactStore(databases: try Databases(cacheFolder: nil, stateFolder: nil, logger: .silent), logger: .silent)
    }

    /// Stores facts as those of the upstream, in place of the ones before.
    @discardableResult
    func replaceUpstream(
        _ facts: [Fact], isComplete: Bool = true, isCancelled: @escaping () -> Bool = { false }
    ) throws -> UpstreamChanges {
        let now = Timestamp(seconds: 0)
        let fetch = FetchRecord(settings: "test", fetchedAt: now)
        return try replaceUpstream(facts, isComplete: isComplete, fetch: fetch, at: now, isCancelled: isCancelled)
    }

    /// The ids of the next facts.
    func nextIDs(_ count: Int, uid: UInt32 = 1, _ filter: WalkFilter = WalkFilter()) -> [String] {
        next(count, uid: uid, filter: filter).map(\.id)
    }
}

extension FactStore.Given {
    var fact: Fact { try! Fact(json: JSON.parse(wire)) }  // Encoded by the store from a fact.
    var id: String { fact.id }
}

extension Logger {
    static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}

extension Fact {
    static func upstream(
        _ id: String, _ text: String? = nil, categories: [String] = [], source: String = "chucknorris"
    ) -> Fact {
        Fact(id: id, text: text ?? "The text of \(id).", categories: categories, source: source)
    }
}

/// Facts with ids in the order of their numbers.
func upstreamFacts(_ numbers: Range<Int>, categories: [String] = []) -> [Fact] {
    numbers.map { number in
        .upstream(
            "fact-" + String(repeating: "0", count: 6 - String(number).count) + String(number),
            categories: categories)
    }
}
