import Foundation
import Glibc
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

/// Fortune files in the store: what of them is served, and what becomes of it when they change.
struct FortuneImportTests {
    private let fixture = StoreFixture()

    private var folder: ScratchFolder { fixture.folder }

    private func texts(_ category: String, in store: FactStore) -> Set<String> {
        Set(store.next(100, uid: 1, filter: WalkFilter(categories: [category])).map(\.fact.text))
    }

    private func all(in store: FactStore) -> Set<String> {
        Set(store.next(100, uid: 1, filter: WalkFilter()).map(\.fact.text))
    }

    @Test func nameOfTheFileIsTheCategory() async throws {
        try folder.write("f/work", "One.\n%\nTwo.")
        try await fixture.run { store in
            #expect(store.importFortunes([folder["f"]]) == [])
            #expect(texts("work", in: store) == ["One.", "Two."])
            let fact = try #require(store.next(1, uid: 2, filter: WalkFilter()).first)
            #expect(fact.isLocal && !fact.isExplicit)
            #expect(fact.fact.source == "fortune:work")
            #expect(fact.id.wholeMatch(of: /fortune:[0-9a-v]{13}/) != nil)
            #expect(store.fact(id: fact.id)?.wire == fact.wire)
            let page = try await store.search(FactQuery(text: "two", categories: ["work"]), cursor: nil, limit: 5)
            #expect(page.items.map(\.text) == ["Two."])
        }
    }

    /// Users keep favourites by id.
    @Test func idIsMadeFromTheTextAsEver() async throws {
        try folder.write("f/a", "You will be hungry again in one hour.")
        try await fixture.run { store in
            store.importFortunes([folder["f"]])
            #expect(store.nextIDs(1) == ["fortune:4qh0qq9hn3v62"])
        }
    }

    @Test func sameTextInTwoFilesHasBothCategories() async throws {
        try folder.write("f/a", "Same.\n%\nSame.\n%\nOther.")
        try folder.write("f/b", "Same.  \n")
        try await fixture.run { store in
            store.importFortunes([folder["f"]])
            #expect(store.count == 2)
            #expect(texts("a", in: store) == ["Same.", "Other."])
            #expect(texts("b", in: store) == ["Same."])
            #expect(store.next(9, uid: 3, filter: WalkFilter(categories: ["a", "b"])).count == 2)
        }
    }

    @Test(arguments: ["Work", "work.txt", "ünder", String(repeating: "a", count: 41), "a b"])
    func nameThatIsNoCategoryGivesFactsWithoutOne(name: String) async throws {
        try folder.write("f/" + name, "Text.")
        try await fixture.run { store in
            #expect(store.importFortunes([folder["f"]]) == [])
            #expect(store.categories.isEmpty)
            #expect(store.next(1, uid: 1, filter: WalkFilter()).first?.fact.source == "fortune:" + name)
        }
    }

    @Test func changesOfTheFilesAreTakenIn() async throws {
        try folder.write("f/a", "One.\n%\nTwo.")
        try folder.write("f/b", "Three.")
        try await fixture.run { store in
            store.importFortunes([folder["f"]])
            #expect(all(in: store) == ["One.", "Two.", "Three."])
        }
        try folder.write("f/a", "Two.\n%\nFour.")
        try folder.remove("f/b")
        try await fixture.run { store in
            #expect(all(in: store) == ["One.", "Two.", "Three."])
            store.importFortunes([folder["f"]])
            #expect(all(in: store) == ["Two.", "Four."])
            #expect(store.categories.map(\.name) == ["a"])
            store.importFortunes([])
            #expect(store.count == 0)
        }
    }

    /// Told by content that changed behind the size and time of the file: it is not looked at.
    @Test func unchangedFilesAreNotReadAgain() async throws {
        let path = try folder.write("f/a", "First.")
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        try await fixture.run { _ = $0.importFortunes([folder["f"]]) }
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.write(contentsOf: Data("Other.".utf8))
        try handle.close()
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        try await fixture.run { store in
            store.importFortunes([folder["f"]])
            #expect(all(in: store) == ["First."])
            try FileManager.default.setAttributes([.modificationDate: date + 1], ofItemAtPath: path)
            store.importFortunes([folder["f"]])
            #expect(all(in: store) == ["Other."])
        }
    }

    @Test func binaryFileIsAFaultAndTheOthersAreRead() async throws {
        try folder.write("f/good", "Good.")
        try folder.write("f/binary", [0x41, 0x00, 0x42])
        try await fixture.run { store in
            let faults = store.importFortunes([folder["f"], folder["none"]])
            #expect(
                faults == [
                    folder["none"] + ": cannot be read (No such file or directory); check facts.fortunes",
                    folder["f/binary"] + ": is no text; take it out of facts.fortunes",
                ]
            )
            #expect(all(in: store) == ["Good."])
        }
    }

    /// What a file gave before it could not be read any more stays, and it is tried again each time.
    @Test func factsOfAFileThatCannotBeReadStay() async throws {
        try folder.write("f/a", "One.")
        try folder.write("f/b", "Two.")
        try await fixture.run { _ = $0.importFortunes([folder["f"]]) }
        try folder.write("f/a", [0x00])
        try folder.write("f/b", "Three.")
        for _ in 0..<2 {
            try await fixture.run { store in
                #expect(store.importFortunes([folder["f"]]).count == 1)
                #expect(all(in: store) == ["One.", "Three."])
            }
        }
        try folder.write("f/a", "Four.")
        try await fixture.run { store in
            #expect(store.importFortunes([folder["f"]]) == [])
            #expect(all(in: store) == ["Four.", "Three."])
        }
    }

    /// A folder may hide any number of files: nothing goes while it cannot be looked at.
    @Test func factsOfAFolderThatCannotBeLookedAtStay() async throws {
        try folder.write("f/sub/a", "One.")
        try folder.write("f/b", "Two.")
        try await fixture.run { _ = $0.importFortunes([folder["f"]]) }
        #expect(rename(folder["f/sub"], folder["away"]) == 0)
        // A link to itself, as something that is there and cannot be followed.
        #expect(symlink("sub", folder["f/sub"]) == 0)
        try await fixture.run { store in
            #expect(store.importFortunes([folder["f"]]).count == 1)
            #expect(all(in: store) == ["One.", "Two."])
        }
        unlink(folder["f/sub"])
        try await fixture.run { store in
            #expect(store.importFortunes([folder["f"]]) == [])
            #expect(all(in: store) == ["Two."])
        }
    }

    @Test func factsOfWhatIsGoneGo() async throws {
        try folder.write("f/a", "One.")
        try folder.write("g", "Two.")
        let paths = [folder["f"], folder["g"]]
        try await fixture.run { _ = $0.importFortunes(paths) }
        try folder.remove("g")
        try await fixture.run { store in
            #expect(store.importFortunes(paths).count == 1)
            #expect(all(in: store) == ["One."])
        }
        try folder.remove("f")
        try await fixture.run { store in
            #expect(store.importFortunes(paths).count == 2)
            #expect(store.count == 0)
        }
    }

    /// The digest of a set of files must not count as read where one of them was not.
    @Test func filesThatComeBackAreReadAgain() async throws {
        for (name, text) in [("f/a", "One."), ("f/b", "Two."), ("f/c", "Three.")] { try folder.write(name, text) }
        let paths = ["f/a", "f/b", "f/c"].map { folder[$0] }
        try await fixture.run { _ = $0.importFortunes(paths) }
        #expect(rename(folder["f/b"], folder["b"]) == 0 && rename(folder["f/c"], folder["c"]) == 0)
        // One is gone, the other is no text for now.
        try folder.write("f/c", [0x00])
        try await fixture.run { store in
            #expect(store.importFortunes(paths).count == 2)
            #expect(all(in: store) == ["One.", "Three."])
        }
        // The same files as in the beginning.
        #expect(rename(folder["b"], folder["f/b"]) == 0 && rename(folder["c"], folder["f/c"]) == 0)
        try await fixture.run { store in
            #expect(store.importFortunes(paths) == [])
            #expect(all(in: store) == ["One.", "Two.", "Three."])
        }
    }

    @Test func fileWithoutPermissionIsAFault() async throws {
        try folder.write("f/a", "One.")
        try await fixture.run { _ = $0.importFortunes([folder["f"]]) }
        try folder.write("f/b", "Two.")
        chmod(folder["f/a"], 0)
        try await fixture.run { store in
            // Opens the connection that reads, while that is allowed.
            _ = try store.databases.cache.value(forKey: "none")
            let faults = asNobody { store.importFortunes([folder["f"]]) }
            #expect(faults == [folder["f/a"] + ": cannot be read (Permission denied); check its permissions"])
            #expect(all(in: store) == ["One.", "Two."])
        }
    }

    @Test func explicitFileIsExplicit() async throws {
        try folder.write("f/explicit", "Rude.")
        try await fixture.run { store in
            store.importFortunes([folder["f"]])
            #expect(all(in: store) == [])
            #expect(store.categories.isEmpty)
        }
    }

    private static let debian = "/usr/share/games/fortunes"

    /// The files of Debian's package, counted by other code than the one under test.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: debian + "/fortunes"), "needs Debian's fortunes"))
    func allOfDebiansFortunesAreReadOnce() async throws {
        var counts: [String: Int] = [:]
        var all: Set<String> = []
        for name in try FileManager.default.contentsOfDirectory(atPath: Self.debian)
        where !name.hasSuffix(".dat") && !name.hasSuffix(".u8") {
            let text = try String(contentsOf: URL(filePath: "\(Self.debian)/\(name)"), encoding: .utf8)
            let cookies = ("\n" + text).components(separatedBy: "\n%\n")
                .map { $0.replacing(/^(\s*\n)+/, with: "").replacing(/\s+$/, with: "") }
                .filter { !$0.isEmpty && $0 != "%" }
            counts[name] = Set(cookies).count
            all.formUnion(cookies)
        }
        try #require(all.count > 1_000)
        let expected = (counts, all.count)
        try await fixture.run { store in
            #expect(store.importFortunes([Self.debian]) == [])
            #expect(store.count == expected.1)
            let found = Dictionary(uniqueKeysWithValues: store.categories.map { ($0.name, $0.count) })
            #expect(found == expected.0)
        }
        try await fixture.run { store in
            #expect(store.importFortunes([Self.debian]) == [])
            #expect(store.count == expected.1)
        }
        #expect(try fixture.folder.bytes("cache/cache.db").count > 1_000_000)
    }
}
