@testable import NorrisDaemon
import Testing

private let loader = ConfigurationLoader(home: nil, currentDirectory: "/")

/// What the loader says of the entries of `posts.sources`, of which the first stands in line 3.
private func faults(_ entries: String...) -> String {
    do {
        let yaml = "posts:\n  sources:\n" + entries.map { "    \($0)\n" }.joined()
        _ = try loader.parse(yaml: yaml, file: "c.yaml")
        return "none"
    } catch {
        return error.description
    }
}

struct ConfigurationSourceTests {
    @Test func sourcesInheritWhatTheyDoNotSay() throws {
        // The order of the keys must not matter.
        let yaml = """
            posts:
              sources:
                zulu: {url: "https://z.example/feed?a=1#", kind: feed}
                alpha: {url: https://a.example, kind: mastodon, keep: 1h, refresh: 10m, enabled: false}
              keep: 10d
              refresh: 2h
            """
        let error = #expect(throws: ConfigurationError.self) { try loader.parse(yaml: yaml, file: "c.yaml") }
        #expect(error?.faults.map(\.key) == ["posts.sources.zulu.url"])

        let sources = try loader.parse(yaml: yaml.replacing("#", with: ""), file: "c.yaml").configuration.posts.sources
        #expect(
            sources == [
                .init(
                    name: "zulu", kind: .feed, url: "https://z.example/feed?a=1", enabled: true,
                    refresh: .seconds(7200), keep: .seconds(864_000)
                ),
                .init(
                    name: "alpha", kind: .mastodon, url: "https://a.example", enabled: false,
                    refresh: .seconds(600), keep: .seconds(3600)
                ),
            ]
        )
    }

    @Test func documentOfAFeedKeepsItsSlash() throws {
        let yaml = "posts: {sources: {a: {kind: feed, url: https://a.example/feed/}}}"
        let source = try loader.parse(yaml: yaml, file: "c.yaml").configuration.posts.sources.first
        #expect(source?.url == "https://a.example/feed/")
    }

    @Test(
        "Names that a source may not have",
        arguments: [
            ("facts", "is the name of a source that is always there; choose another name"),
            ("gifs", "is the name of a source that is always there; choose another name"),
            ("Planet", "is no name for a source; use 1 to 40 characters of a-z, 0-9, _ and -"),
            ("a.b", "is no name for a source; use 1 to 40 characters of a-z, 0-9, _ and -"),
            ("plänet", "is no name for a source; use 1 to 40 characters of a-z, 0-9, _ and -"),
            (
                "a234567890123456789012345678901234567890z",
                "is no name for a source; use 1 to 40 characters of a-z, 0-9, _ and -"
            ),
        ]
    )
    func badNames(name: String, message: String) {
        let expected = "c.yaml:3: posts.sources.\(name): \(message)"
        #expect(faults("\(name): {kind: feed, url: https://a.example}") == expected)
    }

    @Test(arguments: ["a", "0", "null", "town-2_b", "a23456789012345678901234567890123456789z"])
    func goodNames(name: String) {
        #expect(faults("\(name): {kind: feed, url: https://a.example}") == "none")
    }

    @Test func emptyNameIsRefused() {
        #expect(
            faults("'': {kind: feed, url: https://a.example}")
                == #"c.yaml:3: posts.sources."": is no name for a source; use 1 to 40 characters of a-z, 0-9, _ and -"#
        )
    }

    @Test("Kind and url are needed, and every fault of every source is reported")
    func missingAndBadKeys() {
        #expect(
            faults(
                "a: {kind: feed}", "b: {url: https://b.example}", "c:", "d: [1]",
                "e: {kind: rss, url: https://e.example}",
                "f: {kind: feed, url: https://f.example, keep: 0s, enabled: yes, refresh: null}", "g: {kind: ~}",
                "h: {kind: feed, url: }"
            ) == """
                c.yaml:3: posts.sources.a: has no url; every source needs kind and url
                c.yaml:4: posts.sources.b: has no kind; every source needs kind and url
                c.yaml:5: posts.sources.c: has no kind; every source needs kind and url
                c.yaml:6: posts.sources.d: expected a mapping with the keys kind, url, enabled, refresh, keep, \
                found a list
                c.yaml:7: posts.sources.e.kind: expected feed, mastodon or users-posts, found "rss"
                c.yaml:8: posts.sources.f.keep: expected a duration from 1s to 3650d, such as 90s, 15m, 6h or 7d, \
                found "0s"
                c.yaml:8: posts.sources.f.enabled: expected true or false, found "yes"; write true
                c.yaml:8: posts.sources.f.refresh: has no value; write a duration from 1s to 365d, such as 90s, 15m, 6h \
                or 7d, or remove the line for the default
                c.yaml:9: posts.sources.g.kind: has no value; write feed, mastodon or users-posts
                c.yaml:10: posts.sources.h.url: has no value; write an http or https URL
                """
        )
    }

    @Test(
        "The sources are a mapping",
        arguments: [("[planet]", "a list"), ("null", "null"), ("planet", "a text; put the keys below it, indented")]
    )
    func notAMapping(value: String, found: String) throws {
        let error = #expect(throws: ConfigurationError.self) {
            try loader.parse(yaml: "posts: {sources: \(value)}", file: "c.yaml")
        }
        #expect(
            error?.description == "c.yaml:1: posts.sources: expected a mapping such as "
                + "{planet: {kind: feed, url: https://planet.example/rss.xml}}, found " + found
        )
    }
}
