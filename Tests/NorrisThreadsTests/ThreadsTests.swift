import Foundation
import Glibc
import Synchronization
import Testing

@testable import NorrisThreads

@Suite(.timeLimit(.minutes(20))) struct BackgroundThreadsTests {
    private final class Counts: Sendable {
        let counts = Mutex((passed: 0, most: 0))
    }

    /// The nice value of the calling thread, because Linux has a nice value per thread (getpriority(2)).
    private static var nice: CInt { getpriority(CInt(PRIO_PROCESS.rawValue), 0) }

    @Test(
        "Background work yields to others", .enabled(if: nice < 10, "nice(1) has started the tests."),
        arguments: [BackgroundThreads.background, BackgroundThreads.facts])
    func niceness(_ threads: BackgroundThreads) async {
        let niceness = await threads.run { _ in Self.nice }
        #expect(niceness == 10)
        #expect(Self.nice < 10)
    }

    @Test func threadsAreFewAndEndWithoutWork() async {
        let (counts, threads) = (Counts(), BackgroundThreads(maximumThreads: 2))
        for round in 1...2 {
            await withTaskGroup { tasks in
                for _ in 0..<50 {
                    tasks.addTask(executorPreference: threads) {
                        counts.counts.withLock { $0 = ($0.passed + 1, max($0.most, threads.threads)) }
                    }
                }
            }
            #expect(counts.counts.withLock { $0.passed } == 50 * round)
            #expect((1...2).contains(counts.counts.withLock { $0.most }))
            while threads.threads > 0 { usleep(1000) }
        }
    }
}

struct ListenerTests {
    @Test func noMutexContainsAFunction() throws {
        let sources = URL(filePath: #filePath).appending(path: "../../../Sources").standardized
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)?.allObjects as? [URL]
        let swift = (files ?? []).filter { $0.pathExtension == "swift" }
        #expect(swift.count > 100)
        for file in swift {
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(!text.contains(/Mutex<[^\n{]*->/) && !text.contains("Mutex({"), "\(file.lastPathComponent)")
        }
    }
}
