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

    @Test func everyKeyHasItsDescription() throws {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        let words = text.split(whereSeparator: \.isWhitespace).filter { $0 != "#" }.joined(separator: " ")
        for entry in ConfigurationSchema.reference where entry.path != "posts.sources" {
            #expect(words.contains("\(entry.summary) Takes \(entry.accepts)."), "\(entry.path)")
            let key = entry.path.split(separator: ".").last ?? ""
            let isThere = text.contains("#  \(key): ") || text.contains("#\(key): ") || text.contains("# - \(key): ")
            #expect(isThere || key == "user_agent", "\(entry.path)")
        }
    }

    @Test func isTheDefaultsAndSourcesOfEachKindWhereAllIsUncommented() throws {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        var loaded = try Self.loader.parse(yaml: Self.uncommented(text), file: "/etc/norrisd/config.yaml")
        #expect(Set(loaded.configuration.posts.sources.map(\.kind)) == Set(PostSourceKind.allCases))
        loaded.configuration.posts.sources = []
        #expect(loaded == ConfigurationLoader.Loaded(configuration: Configuration()))
    }

    /// Removes the # before keys. The # before words is followed by exactly one space.
    private static func uncommented(_ text: String) -> String {
        text.split(separator: "\n")
            .map { $0.hasPrefix("#") && ($0.hasPrefix("#  ") || !$0.hasPrefix("# ")) ? $0.dropFirst() : $0 }
            .joined(separator: "\n")
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
