import Foundation
import NorrisTestSupport
import Testing

@testable import NorrisDaemon
@testable import NorrisProtocol
@testable import norris_manuals

/// norrisd.conf(5) lists every key of the table, and its examples are valid configurations.
struct ConfManualTests {
    private static let loader = ConfigurationLoader(home: "/home/chuck", currentDirectory: "/srv")

    private let page: ManualPage

    init() throws { page = try ManualPage("norrisd.conf.5") }

    @Test func everyKeyIsListedOnce() {
        let parts = page.lines.filter { $0.hasPrefix(#".\" insert keys "#) }.compactMap {
            ManualPart.replacement(of: $0)
        }
        let keys = parts.joined().split(separator: "\n").filter { $0.hasPrefix(".It Cm ") }.map { $0.dropFirst(7) }
        #expect(keys.map(String.init) == ConfigurationSchema.reference.map(\.path))
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
}

struct SourceSettingsTests {
    /// The keys that `source.add` does not take.
    private static let others: Set = ["command", "enabled", "headers_file", "user_agent"]

    @Test func sourceAddTakesTheKeysOfTheConfiguration() {
        let keys = ConfigurationSchema.sourceKeys.filter { !Self.others.contains($0.name) }
        let members = Set(SourceSettings.members.map(\.name))
        #expect(
            Set(keys.map(\.name)) == members,
            "Change SourceSettings in SourceMethods.swift, sourceKeys in Configuration.swift, or `others` here.")
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
