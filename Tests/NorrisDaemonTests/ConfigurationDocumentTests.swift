import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

/// norrisd.conf(5) lists every key of the table, and its examples are valid configurations.
struct ConfManualTests {
    private static let name = "norrisd.conf.5"
    private static let loader = ConfigurationLoader(home: "/home/chuck", currentDirectory: "/srv")

    private let page: ManualPage

    init() throws { page = try ManualPage(Self.name) }

    @Test("norrisd.conf(5) lists the keys of the table; NORRIS_UPDATE_DOCUMENTS=1 writes them")
    func isUpToDate() throws {
        let updated = page.replacing(Self.list)
        if try updated.updateDocument(Self.name) { return }
        #expect(
            page.lines == updated.lines,
            "NORRIS_UPDATE_DOCUMENTS=1 swift test --filter ConfManualTests updates the list.")
        #expect(
            page.section("KEYS").items.filter { $0.contains(".") || $0 == "admin_groups" }
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

    /// Returns the entries of the keys in some sections. Spaces separate the section names.
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

/// The Debian package's /etc/norrisd/config.yaml contains every key with its default, commented out.
struct ShippedConfigurationTests {
    private static let file = URL(filePath: #filePath).appending(path: "../../../Scripts/debian/config.yaml")
        .standardized
    private static let loader = ConfigurationLoader(home: nil, currentDirectory: "/")

    @Test("config.yaml lists the keys of the table; NORRIS_UPDATE_DOCUMENTS=1 writes them") func isUpToDate() throws {
        if ProcessInfo.processInfo.environment["NORRIS_UPDATE_DOCUMENTS"] == "1" {
            return try Self.text.write(to: Self.file, atomically: true, encoding: .utf8)
        }
        #expect(
            try String(contentsOf: Self.file, encoding: .utf8) == Self.text,
            "NORRIS_UPDATE_DOCUMENTS=1 swift test --filter ShippedConfigurationTests updates the file.")
    }

    @Test func leavesEveryDefaultAsItIs() throws {
        let loaded = try Self.loader.load(.init(path: Self.file.path, isNamed: true))
        #expect(loaded == ConfigurationLoader.Loaded(configuration: Configuration()))
    }

    @Test func isTheDefaultsAndSourcesOfEachKindWhereAllIsUncommented() throws {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        var loaded = try Self.loader.parse(yaml: Self.uncommented(text), file: "/etc/norrisd/config.yaml")
        #expect(Set(loaded.configuration.posts.sources.map(\.kind)) == Set(PostSourceKind.allCases))
        loaded.configuration.posts.sources = []
        #expect(loaded == ConfigurationLoader.Loaded(configuration: Configuration()))
    }

    @Test(arguments: Self.examples.sorted { $0.key < $1.key })
    func examplesAreAccepted(path: String, example: String) throws {
        let parts = path.split(separator: ".")
        let yaml = parts.count == 1 ? "\(path): \(example)" : "\(parts[0]): {\(parts[1]): \(example)}"
        #expect(try Self.loader.parse(yaml: yaml, file: "/c.yaml").configuration != Configuration())
    }

    /// Removes the # before keys. The # before words is followed by exactly one space.
    private static func uncommented(_ text: String) -> String {
        text.split(separator: "\n")
            .map { $0.hasPrefix("#") && ($0.hasPrefix("#  ") || !$0.hasPrefix("# ")) ? $0.dropFirst() : $0 }
            .joined(separator: "\n")
    }
}

extension ShippedConfigurationTests {
    private static let head = """
        # Configuration of norrisd as the system's service; norrisd.conf(5) tells more.
        #
        # Every key has a default, which is the value that stands here, so nothing in this file is needed.
        # To change one, take away the # before it and before the section that it stands in, and nothing
        # else: what belongs to a section is indented.
        #
        # "norrisd --check-config --config /etc/norrisd/config.yaml" tells what is wrong with it, and
        # "systemctl reload norrisd" applies it.


        """

    /// Values for keys whose defaults are not good examples.
    private static let examples = [
        "admin_groups": "[adm]", "facts.fortunes": "[/usr/share/games/fortunes]",
        "http.proxy": "http://proxy.example:3128", "http.user_agent": "norrisd (admin@example.org)",
    ]

    private static let sources = """
        #  sources:
        #    planet: {kind: feed, url: https://planet.debian.org/rss20.xml}
        #    town: {kind: mastodon, url: https://mastodon.example, keep: 7d}
        #    team: {kind: users-posts, url: https://intranet.example/api, refresh: 6h, enabled: false}
        #    notes: {kind: exec, command: [/usr/local/bin/notes-feed, --all]}

        """

    private static var text: String {
        var text = head
        var section = ""
        for entry in ConfigurationSchema.reference where !entry.path.hasPrefix("posts.sources") {
            text += lines(of: entry, in: &section)
        }
        text += "#\n# Where posts come from: a mapping of names of your choice to these keys.\n"
        for entry in ConfigurationSchema.reference where entry.path.hasPrefix("posts.sources.") {
            let key = entry.path.split(separator: ".").last ?? ""
            text += wrapped("- \(key): \(entry.summary) Takes \(entry.accepts).")
        }
        return text + sources
    }

    private static func lines(of entry: ConfigurationSchema.Entry, in section: inout String) -> String {
        let parts = entry.path.split(separator: ".").map(String.init)
        var text = ""
        if parts.count == 1 || parts[0] != section {
            text += section.isEmpty ? "" : "\n"
            section = parts[0]
            if parts.count > 1 { text += "#\(section):\n" }
        } else {
            text += "#\n"
        }
        text += wrapped("\(entry.summary) Takes \(entry.accepts).")
        if let example = examples[entry.path] { text += "# Example: \(example)\n" }
        // The version would change the shipped file in each release, and then apt asks all administrators who have
        // changed their file which of the two to use.
        if entry.path == "http.user_agent" { return text + "# Default: norrisd/ and the version.\n" }
        let indent = parts.count == 1 ? "" : "  "
        return text + "#\(indent)\(parts.last ?? ""): \(entry.defaultText ?? "")\n"
    }

    private static func wrapped(_ words: String) -> String {
        var lines = ["#"]
        for word in words.split(separator: " ") {
            if lines[lines.count - 1].count + 1 + word.count > 100 { lines.append("#") }
            lines[lines.count - 1] += " \(word)"
        }
        return lines.map { $0 + "\n" }.joined()
    }
}

extension ConfigurationSchema {
    /// The description of a key in norrisd.conf(5) and in the shipped file.
    struct Entry {
        /// The dotted path. A key of a post source begins with `posts.sources.NAME.`.
        var path: String
        /// The valid values, such as `true or false`.
        var accepts: String
        /// The default as text in the file, or nil if no default exists or the section's key contains the default.
        var defaultText: String?
        var summary: String
    }

    /// All keys with a value in order, followed by the keys of a source.
    static var reference: [Entry] {
        let top = ConfigurationKey.values(of: keys).map { path, key in
            Entry(path: path, accepts: key.accepts, defaultText: key.write(Configuration()), summary: key.summary)
        }
        let below = sourceKeys.map { key in
            let defaultText = key.name == "enabled" ? "true" : nil
            return Entry(
                path: "posts.sources.NAME.\(key.name)", accepts: key.accepts, defaultText: defaultText,
                summary: key.summary)
        }
        return top + below
    }
}
