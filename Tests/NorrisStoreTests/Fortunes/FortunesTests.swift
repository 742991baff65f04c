import Foundation
import Glibc
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

/// Fortune files in the catalogue.
struct FortunesTests {
    private let fixture = StoreFixture()
    private let fortunes = FactFilter(source: .fortune)

    private var folder: TemporaryFolder { fixture.folder }

    private func texts(in store: FactStore, _ categories: [String] = []) -> Set<String> {
        let filter = FactFilter(categories: categories, source: .fortune)
        return Set(store.catalogue.numbers(filter).map { store.catalogue.fact($0).text })
    }

    /// Ids must remain stable because users keep favorites by id.
    @Test func nameOfTheFileIsTheCategoryAndTheIDIsMadeFromTheText() async throws {
        try folder.write("f/work", "One.\n%\nTwo.")
        try folder.write("g/a", "You will be hungry again in one hour.")
        let store = try await FactStore.new()
        store.readFortunes([folder("f")])
        #expect(texts(in: store, ["work"]) == ["One.", "Two."])
        let fact = try #require(store.nextFacts(1, uid: 2, filter: fortunes).first)
        #expect(fact.isLocal && !fact.isExplicit && fact.source == "fortune:work")
        #expect(fact.id.wholeMatch(of: /fortune:[0-9a-v]{13}/) != nil)
        #expect(store.fact(id: fact.id) == fact)
        let page = try store.search(FactQuery(text: "two", categories: ["work"]))
        #expect(page.items.map(\.text) == ["Two."])
        store.readFortunes([folder("g")])
        #expect(store.nextIDs(1, fortunes) == ["fortune:4qh0qq9hn3v62"])
    }

    @Test(arguments: ["work.txt", String(repeating: "a", count: 41)])
    func nameThatIsNoCategoryGivesFactsWithoutOne(name: String) async throws {
        try folder.write("f/" + name, "Text.")
        let store = try await FactStore.new()
        store.readFortunes([folder("f")])
        #expect(store.catalogue.categories(of: .fortune).isEmpty)
        #expect(store.nextFacts(1, filter: fortunes).first?.source == "fortune:" + name)
    }

    /// Includes more files than a fact of the upstream may have categories.
    @Test func textOfManyFilesIsServedOnceWithAllCategories() async throws {
        let names = (0..<80).map { "f\($0)" }
        for name in names { try folder.write("one/\(name)", "Same.\n%\nOnly in one/\(name).") }
        for name in ["f3", "f4", "other"] { try folder.write("two/\(name)", "Same.  \n%\nOnly in two/\(name).") }
        let store = try await FactStore.new()
        store.readFortunes([folder("one"), folder("two")])
        let same = store.nextFacts(200, filter: fortunes).filter { $0.text == "Same." }
        #expect(same.count == 1 && Set(same.first?.categories ?? []) == Set(names).union(["other"]))
        #expect(texts(in: store, ["f3"]) == ["Same.", "Only in one/f3.", "Only in two/f3."])
        #expect(texts(in: store).count == 84)
    }

    @Test func changesOfTheFilesAreServed() async throws {
        try folder.write("f/a", "One.\n%\nTwo.")
        try folder.write("f/b", "Three.")
        try await fixture.run { store in
            store.readFortunes([folder("f")])
            #expect(texts(in: store) == ["One.", "Two.", "Three."])
            let catalogue = store.catalogue
            store.readFortunes([folder("f")])
            #expect(store.catalogue === catalogue, "unchanged files are not read again")
            try folder.write("f/a", "Two.\n%\nFour.")
            try folder.remove("f/b")
            store.readFortunes([folder("f")])
            #expect(texts(in: store) == ["Two.", "Four."])
            store.readFortunes([])
            #expect(texts(in: store).isEmpty)
            store.readFortunes([folder("f")])
        }
        // Never stored.
        try await fixture.run { #expect(texts(in: $0).isEmpty) }
    }

    @Test func fortunesStayWhenTheUpstreamChanges() async throws {
        try folder.write("f/a", "One.\n%\nThe text of x.")
        let store = try await FactStore.new()
        store.readFortunes([folder("f")])
        try await store.replaceUpstream([.upstream("x")])
        #expect(texts(in: store) == ["One."], "the upstream's fact has precedence")
        try await store.replaceUpstream([.upstream("y")])
        store.readFortunes([folder("f")])
        #expect(texts(in: store) == ["One.", "The text of x."])
        #expect(store.fact(id: "y") != nil)
    }

    @Test func fileThatCannotBeReadDoesNotHideTheOthers() async throws {
        let log = LogRecorder()
        let store = await FactStore(databases: try fixture.databases(logger: log.logger))
        try folder.write("f/good", "Good.")
        try folder.write("f/binary", [0x41, 0x00, 0x42])
        try folder.write("f/secret", "Secret.")
        chmod(folder("f/secret"), 0)
        asNobody { store.readFortunes([folder("f"), folder("none")]) }
        #expect(texts(in: store) == ["Good."])
        for fault in [
            folder("none") + ": cannot be read (No such file or directory); check facts.fortunes",
            folder("f/binary") + ": is no text; take it out of facts.fortunes",
            folder("f/secret") + ": cannot be read (Permission denied); check its permissions and the disk",
        ] { #expect(log.records.contains { $0.contains(fault) }) }
        // A fault is logged once, until it ends or another begins.
        asNobody { store.readFortunes([folder("f"), folder("none")]) }
        #expect(log.lines.count { $0 == "error fortunes.unreadable" } == 3)
    }
}

struct FortuneTextTests {
    private let folder = TemporaryFolder()

    private func texts(_ text: String, format: [UInt8]? = nil) throws -> [String] {
        try texts(in: Array(text.utf8), format: format)
    }

    private func texts(in bytes: [UInt8], format: [UInt8]? = nil) throws -> [String] {
        try folder.write("a", bytes)
        if let format { try folder.write("a.dat", format) }
        var fortunes = Fortunes()
        for file in FortuneFiles.find([folder("a")]).files { fortunes.read(file) }
        #expect(fortunes.faults.isEmpty)
        return fortunes.facts.map(\.text)
    }

    /// The header of strfile(1).
    private func format(_ delimiter: Character = "%", flags: UInt8 = 0, version: UInt8 = 2) -> [UInt8] {
        [0, 0, 0, version] + Array(repeating: 0, count: 15) + [flags] + Array(String(delimiter).utf8) + [0, 0, 0]
    }

    @Test(arguments: [
        ("", []), ("%\n%\n", []), ("One.\n%\nTwo.", ["One.", "Two."]),
        ("%\nOne.\n%\n%\n\n%\nTwo.\n%", ["One.", "Two."]),
        // Only a line that consists of a single percent sign ends a text.
        ("100%\n%%\n% \n %\n%x\n", ["100%\n%%\n% \n %\n%x"]),
        ("One.\r\nMore.\r\n%\r\nTwo.\r\n", ["One.\nMore.", "Two."]),
        ("\n \n\n  One.\n\n  More.\n \t\n\n%\nTwo. \t\n", ["  One.\n\n  More.", "Two."]),
        ("\tOne\tand\n", ["\tOne\tand"]),
    ]) func linesOfAPercentSignDivide(text: String, expected: [String]) throws { #expect(try texts(text) == expected) }

    @Test(arguments: [
        ("_\u{8}a_\u{8}b", "ab"), ("b\u{8}bo\u{8}old", "bold"), ("x_\u{8}\u{8}\u{8}y", "y"), ("_\u{8}é", "é"),
        ("a\n\u{8}b", "a\nb"), ("\u{1B}[31mred\u{1B}[0m", "red"), ("a\u{7}b\u{7F}c\u{85}\u{202E}d", "abcd"),
    ]) func overstrikesAndControlsAreRemoved(text: String, expected: String) throws {
        #expect(try texts(text) == [expected].filter { !$0.isEmpty })
    }

    @Test func bytesThatAreNoUTF8AreLatin1() throws {
        #expect(try texts(in: [0x5A, 0x77, 0xF6, 0x6C, 0x66]) == ["Zwölf"])
        // Of a text in both encodings, each character in its own.
        #expect(try texts(in: Array("Zwölf ".utf8) + [0xC4, 0x70, 0x66, 0x65, 0x6C]) == ["Zwölf Äpfel"])
        #expect(try texts(in: [0xE2, 0x82]) == ["â"], "U+0082 is a control character")
    }

    @Test func headerNamesDelimiterAndRotation() throws {
        #expect(try texts("One $\n$\nTwo\n%\nthree", format: format("$")) == ["One $", "Two\n%\nthree"])
        #expect(try texts("Bgure wbxr: 5 Äpfel.\n%\nNa", format: format(flags: 4)) == ["Other joke: 5 Äcsry.", "An"])
        #expect(try texts("Bgure", format: format(flags: 3, version: 1)) == ["Bgure"])
    }

    @Test(arguments: [[], [0, 0, 0, 2, 0], Array("another file's data, longer".utf8)] as [[UInt8]])
    func otherHeadersAreIgnored(header: [UInt8]) throws {
        #expect(try texts("One\n%\nTwo", format: header) == ["One", "Two"])
    }

    /// Lines and texts cross the blocks in which a file is read; texts without an end are not collected.
    @Test(arguments: ["%\n", "x", "\u{8}"]) func largeFilesAreReadInBlocks(unit: String) throws {
        let longest = String(repeating: "é", count: 10_000)
        #expect(try texts("\(longest)\n%\n\(longest)x\n%\nshort") == [longest, "short"])
        let large = String(repeating: unit, count: (3 << 19) / unit.utf8.count)
        #expect(try texts("One.\n%\n" + large + "\n%\nTwo.") == ["One.", "Two."])
    }
}
