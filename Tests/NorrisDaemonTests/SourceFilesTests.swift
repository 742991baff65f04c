import Foundation
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

/// Files in `sources.d` beside the configuration file.
struct SourceFilesTests {
    private let folder = TemporaryFolder()
    private let loader = ConfigurationLoader(home: nil, currentDirectory: "/srv")

    private func write(_ text: String, to name: String) throws {
        try FileManager.default.createDirectory(atPath: folder("sources.d"), withIntermediateDirectories: true)
        _ = try folder.write(text, to: "sources.d/\(name)")
    }

    private func load(isNamed: Bool = false) throws -> ConfigurationLoader.Loaded {
        try loader.load(.init(path: folder("config.yaml"), isNamed: isNamed))
    }

    private func warnings(_ loaded: ConfigurationLoader.Loaded) -> [String] {
        loaded.warnings.map { $0.description.replacing(folder.path + "/", with: "") }
    }

    @Test func eachFileAddsOneSourceInTheOrderOfTheNames() throws {
        _ = try folder.write(
            "posts: {refresh: 2h, sources: {zulu: {kind: feed, url: https://z.example}}}\n", to: "config.yaml")
        try write("kind: mastodon\nurl: https://b.example\nrefresh: 10m\n", to: "b.yaml")
        try write("kind: feed\nurl: https://a.example/feed?x=1\n", to: "a.yaml")
        try write("kind: feed\nurl: https://c.example\n", to: ".hidden.yaml")
        try write("kind: feed\nurl: https://c.example\n", to: "c.yml")
        let loaded = try load()
        #expect(warnings(loaded) == [])
        let sources = loaded.configuration.posts.sources
        #expect(sources.map(\.name) == ["zulu", "a", "b"])
        #expect(sources.map(\.refresh) == [.seconds(7200), .seconds(7200), .seconds(600)])
        #expect(loaded.configuration.yaml.contains("    a: {kind: feed, url: \"https://a.example/feed?x=1\""))
    }

    @Test func noConfigurationFileIsNeeded() throws {
        try write("kind: feed\nurl: https://a.example\n", to: "a.yaml")
        #expect(try load().configuration.posts.sources.map(\.name) == ["a"])
        #expect(throws: ConfigurationError.self) { try load(isNamed: true) }
    }

    @Test func withoutTheFolderThereIsNothingToSay() throws {
        #expect(try load() == ConfigurationLoader.Loaded(configuration: Configuration()))
    }

    @Test func otherKindsOfFeedsAreFeeds() throws {
        try write("kind: rss\nurl: https://a.example\n", to: "a.yaml")
        try write("kind: atom\nurl: https://b.example\n", to: "b.yaml")
        let configuration = try load().configuration
        #expect(configuration.posts.sources.map(\.kind) == [.feed, .feed])
        #expect(!configuration.yaml.contains("rss"))
    }

    @Test(arguments: [
        (
            "x.yaml", "kind: fed\nurl: https://a.example\n",
            "1: kind: expected feed, mastodon, users-posts or exec, found \"fed\""
        ),
        ("x.yaml", "kind: feed\nurl: ftp://a\n", "2: url: "), ("x.yaml", "", "1: has no kind; every source needs"),
        ("x.yaml", "# only a comment\n", "1: has no kind; every source needs"),
        ("x.yaml", "kind: [\n", "2: is not YAML here"), ("x.yaml", "- a\n", "1: expected a mapping"),
        ("x.yaml", "kind: feed\nurl: &a https://a.example\n", "2: url: has an anchor"),
        ("x.yaml", "&a\nkind: feed\n", "1: has an anchor"),
        ("x.yaml", "kind:feed\nurl: https://a.example\n", "1: is not YAML here: put a space after the first colon"),
        ("x.yaml", "https://a.example\n", "found a text; write {kind: feed, url: ADDRESS}"),
        ("X.yaml", "kind: feed\nurl: https://a.example\n", "1: is not a valid source name"),
        ("facts.yaml", "kind: feed\nurl: https://a.example\n", "1: is the name of a built-in source"),
        ("old.yaml", "kind: feed\nurl: https://a.example\n", " has the name of a source in"),
        ("x.yaml", String(repeating: "#", count: 65_537), " is larger than 64 KiB"),
    ]) func aFaultDisablesTheSourceOfItsFileAlone(name: String, text: String, warning: String) throws {
        _ = try folder.write("posts: {sources: {old: {kind: feed, url: https://o.example}}}\n", to: "config.yaml")
        try write(text, to: name)
        try write("kind: feed\nurl: https://b.example\n", to: "good.yaml")
        let loaded = try load()
        #expect(loaded.configuration.posts.sources.map(\.name) == ["old", "good"])
        let found = warnings(loaded).joined(separator: "\n")
        #expect(found.contains(warning) && found.hasPrefix("sources.d/\(name):"), "\(found)")
        #expect(loaded.faultySources == [folder("sources.d/\(name)")])
    }

    @Test func onlyRegularFilesAreRead() throws {
        try write("kind: feed\nurl: https://a.example\n", to: "good.yaml")
        #expect(mkfifo(folder("sources.d/pipe.yaml"), 0o600) == 0)
        #expect(mkdir(folder("sources.d/folder.yaml"), 0o700) == 0)
        #expect(symlink("nowhere", folder("sources.d/link.yaml")) == 0)
        let loaded = try load()
        #expect(loaded.configuration.posts.sources.map(\.name) == ["good"])
        #expect(
            warnings(loaded).map { $0.prefix { $0 != ";" } } == [
                "sources.d/folder.yaml: is a directory", "sources.d/link.yaml: does not exist",
                "sources.d/pipe.yaml: is not a regular file",
            ])
    }

    @Test func aFolderOfAnotherTypeIsAWarning() throws {
        _ = try folder.write("", to: "sources.d")
        let loaded = try load()
        #expect(warnings(loaded) == ["sources.d: cannot be read: Not a directory"])
        #expect(loaded.configuration == Configuration())
    }

    @Test func aFolderThatMayNotBeReadIsAWarning() throws {
        try write("kind: feed\nurl: https://a.example\n", to: "a.yaml")
        #expect(chmod(folder.path, 0o755) == 0 && chmod(folder("sources.d"), 0o700) == 0)
        let loaded = try asNobody { try load() }
        #expect(
            warnings(loaded) == [
                "sources.d: cannot be read: Permission denied; let the user that norrisd runs as read it"
            ])
    }

    @Test func atMostAThousandFilesAreRead() throws {
        for number in 0...1000 {
            try write("kind: feed\nurl: https://a.example/\(number)\n", to: "\(10_000 + number).yaml")
        }
        let loaded = try load()
        #expect(loaded.configuration.posts.sources.count == 1000)
        #expect(loaded.configuration.posts.sources.last?.name == "10999")
        #expect(
            warnings(loaded) == ["sources.d: has 1001 files, of which only the first 1000 are read; remove some"])
    }

    @Test func oneFileCanBeCheckedAlone() throws {
        try write("kind: feed\nurl: https://a.example\n", to: "a.yaml")
        let source = try loader.loadSource(.init(path: folder("sources.d/a.yaml"), isNamed: true))
        #expect(source?.configuration.posts.sources.map(\.name) == ["a"])
        #expect(try loader.loadSource(.init(path: folder("config.yaml"), isNamed: true)) == nil)
        try write("kind: feed\n", to: "b.yaml")
        #expect(throws: ConfigurationError.self) {
            try loader.loadSource(.init(path: folder("sources.d/b.yaml"), isNamed: true))
        }
    }

    @Test func faultsForAPersonNameThePathOnce() {
        let faults = [
            ConfigurationFault(file: "/c.yaml", line: 2, key: "facts.x", message: "unknown key"),
            ConfigurationFault(file: "/c.yaml", line: 4, message: "is not YAML here"),
            ConfigurationFault(file: "/d.yaml", message: "does not exist"),
        ]
        #expect(
            faults.lines == [
                "/c.yaml:", "line 2: facts.x: unknown key", "line 4: is not YAML here", "/d.yaml does not exist",
            ])
    }
}
