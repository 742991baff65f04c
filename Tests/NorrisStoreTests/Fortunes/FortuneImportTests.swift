import Foundation
import Glibc
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

struct FortuneImportTests {
    private let fixture = StoreFixture()

    private var folder: TemporaryFolder { fixture.folder }

    private func texts(_ category: String, in store: FactStore) async -> Set<String> {
        Set(await store.nextFacts(100, filter: ShuffleFilter(categories: [category])).map(\.text))
    }

    private func all(in store: FactStore) async -> Set<String> { Set(await store.nextFacts(100).map(\.text)) }

    @Test func nameOfTheFileIsTheCategory() async throws {
        try folder.write("f/work", "One.\n%\nTwo.")
        try await fixture.run { store in
            #expect(store.importFortunes([folder("f")]) == [])
            #expect(await texts("work", in: store) == ["One.", "Two."])
            let fact = try #require(await store.nextFacts(1, uid: 2).first)
            #expect(fact.isLocal && !fact.isExplicit)
            #expect(fact.source == "fortune:work")
            #expect(fact.id.wholeMatch(of: /fortune:[0-9a-v]{13}/) != nil)
            #expect(try await store.fact(id: fact.id) == fact)
            let page = try await store.search(FactQuery(text: "two", categories: ["work"]), cursor: nil, limit: 5)
            #expect(page.items.map(\.text) == ["Two."])
        }
    }

    /// Ids must remain stable because users keep favorites by id.
    @Test func idIsMadeFromTheTextAsEver() async throws {
        try folder.write("f/a", "You will be hungry again in one hour.")
        try await fixture.run { store in
            store.importFortunes([folder("f")])
            #expect(await store.nextIDs(1) == ["fortune:4qh0qq9hn3v62"])
        }
    }

    @Test func sameTextInTwoFilesHasBothCategories() async throws {
        try folder.write("f/a", "Same.\n%\nSame.\n%\nOther.")
        try folder.write("f/b", "Same.  \n")
        try await fixture.run { store in
            store.importFortunes([folder("f")])
            #expect(store.count == 2)
            #expect(await texts("a", in: store) == ["Same.", "Other."])
            #expect(await texts("b", in: store) == ["Same."])
            #expect(await store.nextFacts(9, uid: 3, filter: ShuffleFilter(categories: ["a", "b"])).count == 2)
        }
    }

    @Test(arguments: ["Work", "work.txt", "ünder", String(repeating: "a", count: 41), "a b"])
    func nameThatIsNoCategoryGivesFactsWithoutOne(name: String) async throws {
        try folder.write("f/" + name, "Text.")
        try await fixture.run { store in
            #expect(store.importFortunes([folder("f")]) == [])
            #expect(store.categories(of: .all).isEmpty)
            #expect(await store.nextFacts(1).first?.source == "fortune:" + name)
        }
    }

    @Test func changesOfTheFilesAreTakenIn() async throws {
        try folder.write("f/a", "One.\n%\nTwo.")
        try folder.write("f/b", "Three.")
        try await fixture.run { store in
            store.importFortunes([folder("f")])
            #expect(await all(in: store) == ["One.", "Two.", "Three."])
        }
        try folder.write("f/a", "Two.\n%\nFour.")
        try folder.remove("f/b")
        try await fixture.run { store in
            #expect(await all(in: store) == ["One.", "Two.", "Three."])
            store.importFortunes([folder("f")])
            #expect(await all(in: store) == ["Two.", "Four."])
            #expect(store.categories(of: .all).map(\.name) == ["a"])
            store.importFortunes([])
            #expect(store.count == 0)
        }
    }

    /// The content changes without a new size or time, so the test fails if the file is read.
    @Test func unchangedFilesAreNotReadAgain() async throws {
        let path = try folder.write("f/a", "First.")
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        try await fixture.run { _ = $0.importFortunes([folder("f")]) }
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.write(contentsOf: Data("Other.".utf8))
        try handle.close()
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        try await fixture.run { store in
            store.importFortunes([folder("f")])
            #expect(await all(in: store) == ["First."])
            try FileManager.default.setAttributes([.modificationDate: date + 1], ofItemAtPath: path)
            store.importFortunes([folder("f")])
            #expect(await all(in: store) == ["Other."])
        }
    }

    @Test func binaryFileIsAFaultAndTheOthersAreRead() async throws {
        try folder.write("f/good", "Good.")
        try folder.write("f/binary", [0x41, 0x00, 0x42])
        try await fixture.run { store in
            let faults = store.importFortunes([folder("f"), folder("none")])
            #expect(
                faults == [
                    folder("none") + ": cannot be read (No such file or directory); check facts.fortunes",
                    folder("f/binary") + ": is no text; take it out of facts.fortunes",
                ])
            #expect(await all(in: store) == ["Good."])
        }
    }

    /// Facts of a file remain if the file becomes unreadable, and each import tries to read the file again.
    @Test func factsOfAFileThatCannotBeReadStay() async throws {
        try folder.write("f/a", "One.")
        try folder.write("f/b", "Two.")
        try await fixture.run { _ = $0.importFortunes([folder("f")]) }
        try folder.write("f/a", [0x00])
        try folder.write("f/b", "Three.")
        for _ in 0..<2 {
            try await fixture.run { store in
                #expect(store.importFortunes([folder("f")]).count == 1)
                #expect(await all(in: store) == ["One.", "Three."])
            }
        }
        try folder.write("f/a", "Four.")
        try await fixture.run { store in
            #expect(store.importFortunes([folder("f")]) == [])
            #expect(await all(in: store) == ["Four.", "Three."])
        }
    }

    /// Facts remain while a folder is unreadable, because the folder may contain any number of files.
    @Test func factsOfAFolderThatCannotBeLookedAtStay() async throws {
        try folder.write("f/sub/a", "One.")
        try folder.write("f/b", "Two.")
        try await fixture.run { _ = $0.importFortunes([folder("f")]) }
        #expect(rename(folder("f/sub"), folder("away")) == 0)
        // A link to itself exists but cannot be followed.
        #expect(symlink("sub", folder("f/sub")) == 0)
        try await fixture.run { store in
            #expect(store.importFortunes([folder("f")]).count == 1)
            #expect(await all(in: store) == ["One.", "Two."])
        }
        unlink(folder("f/sub"))
        try await fixture.run { store in
            #expect(store.importFortunes([folder("f")]) == [])
            #expect(await all(in: store) == ["Two."])
        }
    }

    @Test func factsOfWhatIsGoneGo() async throws {
        try folder.write("f/a", "One.")
        try folder.write("g", "Two.")
        let paths = [folder("f"), folder("g")]
        try await fixture.run { _ = $0.importFortunes(paths) }
        try folder.remove("g")
        try await fixture.run { store in
            #expect(store.importFortunes(paths).count == 1)
            #expect(await all(in: store) == ["One."])
        }
        try folder.remove("f")
        try await fixture.run { store in
            #expect(store.importFortunes(paths).count == 2)
            #expect(store.count == 0)
        }
    }

    @Test func fileWithoutPermissionIsAFault() async throws {
        try folder.write("f/a", "One.")
        try await fixture.run { _ = $0.importFortunes([folder("f")]) }
        try folder.write("f/b", "Two.")
        chmod(folder("f/a"), 0)
        try await fixture.run { store in
            // Opens the reader connection before the user changes.
            _ = try store.databases.cache(.facts).value(forKey: "none")
            let faults = asNobody { store.importFortunes([folder("f")]) }
            let fault = "cannot be read (Permission denied); check its permissions and the disk"
            #expect(faults == ["\(folder("f/a")): \(fault)"])
            #expect(await all(in: store) == ["One.", "Two."])
        }
    }

    // MARK: Imports in parts

    /// Returns a function that cancels an import after `limit` calls.
    private func cancelling(after limit: Int) -> () -> Bool {
        var looks = 0
        return {
            looks += 1
            return looks > limit
        }
    }

    /// Writes one file of several parts, and two other files.
    private func writeMany(_ folder: String = "f") throws -> Set<String> {
        var all: Set<String> = []
        for (name, count) in [("a", 2_500), ("b", 30), ("c", 1_024)] {
            let texts = (0..<count).map { "\(name) \($0)." }
            try self.folder.write("\(folder)/\(name)", texts.joined(separator: "\n%\n"))
            all.formUnion(texts)
        }
        return all
    }

    private func everything(in store: FactStore, uid: UInt32 = 1) async -> Set<String> {
        Set(await store.nextFacts(store.count, uid: uid).map(\.text))
    }

    @Test(arguments: [0, 1, 3, 9, 18]) func cancelledImportGoesOnAtTheNextOne(looks: Int) async throws {
        let all = try writeMany()
        try folder.write("old/x", "Old.")
        try await fixture.run { store in
            store.importFortunes([folder("old")])
            store.importFortunes([folder("f")], isCancelled: cancelling(after: looks))
            #expect(store.databases.faults == [])
            try await store.databases.cache(.facts).writer.read { try $0.expectWholeFacts() }
            if looks < 3 { #expect(store.count < 2_500) }
            // Facts served before the remaining parts still count as served.
            let served = await store.nextFacts(store.count).map(\.text)
            store.importFortunes([folder("f")])
            #expect(store.count == all.count)
            let rest = await store.nextFacts(store.count - Set(served).intersection(all).count).map(\.text)
            #expect(Set(served + rest).isSuperset(of: all))
        }
        try await fixture.run { store in
            store.importFortunes([folder("f")])
            #expect(await everything(in: store, uid: 2) == all)
        }
    }

    @Test func fetchWhileFilesAreReadIsTakenIn() async throws {
        let all = try writeMany()
        try await fixture.run { store in
            var looks = 0
            store.importFortunes([folder("f")]) {
                looks += 1
                return looks > 7
            }
            // The text of an imported fortune, the text of a later fortune, and a new text.
            try await store.replaceUpstream([.upstream("u1", "a 3."), .upstream("u2", "c 1000."), .upstream("u3")])
            store.importFortunes([folder("f")])
            #expect(store.count == all.count + 1)
            #expect(await everything(in: store) == all.union(["The text of u3."]))
            // The fortunes return after the upstream has removed their texts.
            try await store.replaceUpstream([.upstream("u3")])
            store.importFortunes([folder("f")])
            #expect(await everything(in: store, uid: 2) == all.union(["The text of u3."]))
            #expect(store.categories(of: .fortune).map(\.count) == [2_500, 30, 1_024])
        }
    }

    /// A fetch between two parts frees a text that the import left out, so the files are read again.
    @Test func textThatGetsFreeWhileFilesAreReadComesBack() async throws {
        let all = try writeMany()
        let store = try fixture.open()
        defer { store.databases.close() }
        try await store.replaceUpstream([.upstream("u1", "a 3."), .upstream("u2", "c 7.")])
        let path = folder("f")
        let isFetched = DispatchSemaphore(value: 0)
        var looks = 0
        store.importFortunes([path]) {
            looks += 1
            // The import calls this function with its write access, so the fetch waits for the part.
            if looks == 8 {
                Task {
                    await #expect(throws: Never.self) { try await store.clearUpstream() }
                    isFetched.signal()
                }
            }
            return false
        }
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                isFetched.wait()
                done.resume()
            }
        }
        store.importFortunes([path])
        #expect(await everything(in: store) == all)
    }

    @Test func ofTwoImportsAtOnceTheLaterCounts() async throws {
        _ = try writeMany("f")
        try folder.write("g/x", (0..<3_000).map { "x \($0)." }.joined(separator: "\n%\n"))
        let store = try fixture.open()
        defer { store.databases.close() }
        let isRunning = DispatchSemaphore(value: 0)
        let group = DispatchGroup()
        group.enter()
        let path = folder("f")
        Thread.detachNewThread {
            store.importFortunes([path]) {
                isRunning.signal()
                return false
            }
            group.leave()
        }
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                isRunning.wait()
                done.resume()
            }
        }
        store.importFortunes([folder("g")])
        await withCheckedContinuation { done in group.notify(queue: .global()) { done.resume() } }
        #expect(store.categories(of: .all).map(\.name) == ["x"])
        #expect(store.count == 3_000)
        try await store.databases.cache(.facts).writer.read { try $0.expectWholeFacts() }
    }

    /// Includes equal file names in several folders, and more files than a fact may have categories.
    @Test func textOfManyFilesIsStoredOnceWithAllCategories() async throws {
        let names = (0..<80).map { "f\($0)" }
        for name in names { try folder.write("one/\(name)", "Same.\n%\nOnly in one/\(name).") }
        for name in ["f3", "f4", "other"] { try folder.write("two/\(name)", "Same.\n%\nOnly in two/\(name).") }
        try await fixture.run { store in
            store.importFortunes([folder("one"), folder("two")])
            #expect(store.count == 1 + 80 + 3)
            let same = await store.nextFacts(200).filter { $0.text == "Same." }
            #expect(same.count == 1)
            #expect(Set(same.first?.categories ?? []) == Set(names + ["other"]))
            #expect(await texts("f3", in: store) == ["Same.", "Only in one/f3.", "Only in two/f3."])
            let page = try await store.search(FactQuery(text: "only", categories: ["f79"]), cursor: nil, limit: 9)
            #expect(page.items.map(\.text) == ["Only in one/f79."])
            try await store.databases.cache(.facts).writer.read { try $0.expectWholeFacts() }
        }
        try folder.remove("two")
        try await fixture.run { store in
            store.importFortunes([folder("one")])
            #expect(await texts("other", in: store) == [])
            #expect(await texts("f3", in: store) == ["Same.", "Only in one/f3."])
        }
    }

    /// A new file must not make facts of other files new again.
    @Test func factsOfSeveralFilesStayWhatTheyAre() async throws {
        for name in ["a", "b", "c"] { try folder.write("f/\(name)", "Same.\n%\nAlso.\n%\nOnly \(name).") }
        try await fixture.run { store in
            store.importFortunes([folder("f")])
            let served = await store.nextFacts(5).map(\.text)
            #expect(Set(served).count == 5)
            try folder.write("f/d", "New one.")
            store.importFortunes([folder("f")])
            #expect(await store.nextFacts(1).map(\.text) == ["New one."])
            // A fact that loses a file and a fact that gains a file are new.
            try folder.write("f/c", "Also.\n%\nOnly c.")
            try folder.write("f/d", "New one.\n%\nAlso.")
            store.importFortunes([folder("f")])
            let changed = await store.nextFacts(2)
            #expect(Set(changed.map(\.text)) == ["Same.", "Also."])
            #expect(changed.first { $0.text == "Same." }?.categories == ["a", "b"])
            #expect(changed.first { $0.text == "Also." }?.categories == ["a", "b", "c", "d"])
            try await store.databases.cache(.facts).writer.read { try $0.expectWholeFacts() }
        }
    }
}
