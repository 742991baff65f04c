@testable import NorrisDaemon
import NorrisTestSupport
import Testing

/// norrisd.conf(5) has every key of the table, and its examples are good configurations.
struct ConfManualTests {
    private static let name = "norrisd.conf.5"
    private static let loader = ConfigurationLoader(home: "/home/chuck", currentDirectory: "/srv")

    private let page: ManualPage

    init() throws {
        page = try ManualPage(Self.name)
    }

    @Test("norrisd.conf(5) lists the keys of the table; NORRIS_UPDATE_DOCUMENTS=1 writes them")
    func isUpToDate() throws {
        let updated = page.replacing(Self.list)
        if try updated.updateDocument(Self.name) { return }
        #expect(
            page.lines == updated.lines,
            "NORRIS_UPDATE_DOCUMENTS=1 swift test --filter ConfManualTests brings the list up to date."
        )
        #expect(page.section("KEYS").items.filter { $0.contains(".") || $0 == "admin_groups" }
            == ConfigurationSchema.reference.map(\.path))
    }

    @Test func examplesAreGoodConfigurations() throws {
        let examples = page.section("EXAMPLES").displays
        #expect(examples.count == 5)
        for example in examples {
            let loaded = try Self.loader.parse(yaml: example, file: "c.yaml")
            #expect(loaded.configuration != Configuration())
            #expect(loaded.warnings.isEmpty, "\(example)")
        }
    }

    @Test func faultIsTheOneThatIsPrinted() throws {
        let fault = #expect(throws: ConfigurationError.self) {
            try Self.loader.parse(yaml: "facts:\n  refesh: 24h\n", file: "/etc/norrisd/config.yaml")
        }
        #expect(page.section("DIAGNOSTICS").displays == [fault.map { "\($0)\n" }])
    }

    @Test func kindsOfPostsAreThoseOfTheTable() {
        let items = page.section("KEYS").subsection("Posts").items
        for kind in Configuration.PostSourceKind.allCases {
            #expect(items.contains(kind.rawValue))
        }
    }

    /// The keys below some sections, given by their names between spaces.
    private static func list(of sections: String) -> String {
        let names = sections.split(separator: " ")
        let entries = ConfigurationSchema.reference.filter { entry in
            entry.path.split(separator: ".").first.map(names.contains) == true
        }
        return ".Bl -tag -width Ds\n" + entries.map(item).joined() + ".El\n"
    }

    private static func item(_ entry: ConfigurationSchema.Entry) -> String {
        let values = "Takes " + ManualPage.escaped(entry.accepts)
        let ending = entry.defaultText.map { ";\nthe default is\n.Ql \(ManualPage.escaped($0)) .\n" } ?? ".\n"
        return ".It Cm \(entry.path)\n\(ManualPage.escaped(entry.summary))\n\(values)\(ending)"
    }
}
