import Foundation
import NorrisTestSupport
import NorrisThreads
import Synchronization
import Testing

struct ListenerTests {
    private final class Counter: Sendable {
        let count = Atomic(0)
    }

    @Test func callsTheFunctionThatWasSetLast() {
        let (listener, first, second) = (Listener(), Counter(), Counter())
        listener.notify()
        listener.set { first.count.add(1, ordering: .relaxed) }
        listener.notify()
        listener.set { second.count.add(1, ordering: .relaxed) }
        listener.notify()
        listener.notify()
        #expect(first.count.load(ordering: .relaxed) == 1)
        #expect(second.count.load(ordering: .relaxed) == 2)
    }

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
