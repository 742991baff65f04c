import NorrisProtocol
import Testing

@testable import NorrisDaemon

func parsed(_ yaml: String) throws -> Configuration {
    let loader = ConfigurationLoader(home: "/home/chuck", currentDirectory: "/srv")
    return try loader.parse(yaml: yaml, file: "c.yaml").configuration
}

extension ConfigurationLoader {
    func parse(yaml: String, file: String) throws(ConfigurationError) -> Loaded {
        try parse(Array(yaml.utf8), file: file)
    }
}

/// Returns the faults that the loader finds in a text, one per line.
func faults(_ yaml: String, home: String? = "/home/chuck") -> String {
    do {
        _ = try ConfigurationLoader(home: home, currentDirectory: "/srv").parse(yaml: yaml, file: "c.yaml")
        return "none"
    } catch {
        return error.description
    }
}

/// Returns the fault of a value for one key, such as `facts.refresh`, without file, line and key.
func fault(_ key: String, _ value: String) -> String {
    let parts = key.split(separator: ".")
    let found = faults("\(parts[0]): {\(parts[1]): \(value)}")
    return found.hasPrefix("c.yaml:1: \(key)") ? String(found.dropFirst("c.yaml:1: \(key)".count)) : found
}

/// Returns the faults of the entries of `posts.sources`. The first entry is in line 3.
private func sourceFaults(_ entries: String...) -> String {
    faults("posts:\n  sources:\n" + entries.map { "    \($0)\n" }.joined())
}

private let allKeys = "log, admin_groups, limits, http, facts, gifs, posts"
private let alias = "is an alias; write the value out, or put a text that begins with * in quotes"
private let anchor = "has an anchor; remove it, or put a text that begins with & in quotes"
private let tag = "has a tag; remove it, or put a text that begins with ! in quotes"
private let twoDocuments = "holds a second document; keep one and remove the line --- between them"
private let checkYAML =
    "; check the space after each colon, the indentation (spaces, no tabs), quotes and brackets"
private let found = "found a text; write KEY: VALUE with a space after the colon"
private let sourceKeys = ConfigurationSchema.sourceKeys.map(\.name).joined(separator: ", ")
private let indent = "Indent a key below its section"

struct ConfigurationFaultTests {
    private static let cases: [(String, String)] = [
        ("facts: {refresh:1h}", "1: facts.refresh:1h: unknown key; put a space after the colon"),
        ("facts:\n  refersh: 1h", "2: facts.refersh: unknown key; did you mean facts.refresh?"),
        (
            "refresh: 1h",
            "1: refresh: unknown key; did you mean facts.refresh or gifs.refresh or posts.refresh? \(indent)"
        ),
        ("log:\n  gifs: {}", "2: log.gifs: unknown key; did you mean gifs? \(indent)"),
        ("facts.refresh: 1h", "1: facts.refresh: unknown key; did you mean facts.refresh? \(indent)"),
        (
            "posts:\n  sources:\n    a: {kind: feed, knd: feed, url: https://a.example}",
            "3: posts.sources.a.knd: unknown key; did you mean posts.sources.a.kind?"
        ), ("facts: {<<: {enabled: true}}", "1: facts.<<: merge keys are not supported; write the keys out"),
        (#""a\e[31m\u202Eb": 1"#, #"1: "a\x1B[31m\u202Eb": unknown key; valid here: "# + allKeys),
        ("? [facts]\n: 1", "1: has no text for a key; write KEY: VALUE"), ("*x : 1", "1: \(alias)"),
        ("facts", "1: expected a mapping with the keys \(allKeys), \(found)"),
        ("\nlog: [info]", "2: log: expected a mapping with the keys level, found a list"),
        (
            "http:\n  proxy:http://chuck:secret@proxy.example\n",
            "2: http: expected a mapping with the keys timeout, max_body, user_agent, proxy, host_gap, "
                + found
        ),
        ("facts:\n  queries: &q []", "2: facts.queries: \(anchor)"), ("log:\n  level: *here", "2: log.level: \(alias)"),
        ("facts: {queries: [chuck, *q]}", "1: facts.queries[1]: \(alias)"), ("&r\nfacts: {}", "1: \(anchor)"),
        ("log: {level: !!str info}", "1: log.level: \(tag)"), ("log: !!omap {level: info}", "1: log: \(tag)"),
        // The space after a colon is missing, which libyaml reports in a later line, or not at all.
        (
            "posts:\n  sources:\n    rich:\n      kind:feed\n      # comment\n\n      url: https://r.example\n",
            "7: is not YAML here: did not find expected key "
                + "(while parsing a block mapping that begins in line 3)\(checkYAML)"
        ),
        (
            "posts:\n  sources:\n    rich: http://r.example\n",
            "3: posts.sources.rich: expected a mapping with the keys \(sourceKeys), \(found)"
        ),
        ("log: {}\na: b: c", "2: is not YAML here: mapping values are not allowed in this context\(checkYAML)"),
        (
            "facts:\n  queries: [chuck\ngifs: {}\n",
            "3: is not YAML here: did not find expected ',' or ']' "
                + "(while parsing a flow sequence that begins in line 2)\(checkYAML)"
        ),
        (
            "log:\r\n  level: in\u{0}fo",
            "2: is not YAML here: control characters are not allowed; save the file as UTF-8 without control characters"
        ),
        ("log: {}\n---\n", "3: \(twoDocuments)"),
        (
            "facts:\n  enabled: true\n  \"enabled\": true",
            "3: facts.enabled: is already set in line 2; keep one of the two"
        ),
    ]

    @Test("One fault, with its line and key", arguments: cases)
    func oneFault(yaml: String, expected: String) {
        #expect(faults(yaml) == "c.yaml:" + expected)
    }

    @Test("A doubled key and an alias hide no other fault") func nothingIsHidden() {
        let yaml = """
            log: {level: loud}
            facts:
              enabled: maybe
              enabled: true
              queries: [*nowhere, ab]
            log: {level: quiet}
            posts:
              sources:
                a: {kind: feed, url: https://a.example}
                b: {url: https://b.example, kind: *nowhere}
                a: {kind: fed, url: https://a.example}
            """
        let levels = "trace, debug, info, notice, warning, error or critical"
        #expect(
            faults(yaml) == """
                c.yaml:1: log.level: expected \(levels), found "loud"
                c.yaml:3: facts.enabled: expected true or false, found "maybe"
                c.yaml:4: facts.enabled: is already set in line 3; keep one of the two
                c.yaml:5: facts.queries[0]: \(alias)
                c.yaml:5: facts.queries[1]: expected a query of 3 to 120 characters, found "ab"
                c.yaml:6: log: is already set in line 1; keep one of the two
                c.yaml:6: log.level: expected \(levels), found "quiet"
                c.yaml:10: posts.sources.b.kind: \(alias)
                c.yaml:11: posts.sources.a: is already set in line 9; keep one of the two
                c.yaml:11: posts.sources.a.kind: expected feed, mastodon, users-posts or exec, found "fed"
                """)
    }

    @Test("Endless lists and deep nesting end early") func boundsOfYAML() {
        let many = "admin_groups: [\(String(repeating: "a,", count: 100_001))]"
        #expect(faults(many) == "c.yaml:1: holds more than 100000 values; remove some")
        for open in ["[", "{a: ", "- "] {
            #expect(
                faults(String(repeating: open, count: 200_000))
                    == "c.yaml:1: is nested deeper than any key; check the brackets")
        }
        let allowed = String(repeating: "[", count: 31) + String(repeating: "]", count: 31)
        #expect(faults("facts: \(allowed)").hasSuffix("found a list"))
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
        #expect(faults(yaml).hasPrefix("c.yaml:3: posts.sources.zulu.url: must not contain a fragment"))
        let sources = try parsed(yaml.replacing("#", with: "")).posts.sources
        #expect(
            sources == [
                .init(
                    name: "zulu", kind: .feed, url: "https://z.example/feed?a=1", enabled: true,
                    refresh: .seconds(7200), keep: .seconds(864_000)),
                .init(
                    name: "alpha", kind: .mastodon, url: "https://a.example", enabled: false, refresh: .seconds(600),
                    keep: .seconds(3600)),
            ])
    }

    private static let taken = "is the name of a built-in source; choose another name"
    private static let noName = "is not a valid source name; use 1 to 40 characters of a-z, 0-9, _ and -"

    @Test(
        "Names that a source may not have",
        arguments: [
            ("facts", taken), ("gifs", taken), ("Planet", noName), ("a.b", noName),
            ("a234567890123456789012345678901234567890z", noName), (#""""#, noName),
        ]
    )
    func badNames(name: String, message: String) {
        let expected = "c.yaml:3: posts.sources.\(name): \(message)"
        #expect(sourceFaults("\(name): {kind: feed, url: https://a.example}") == expected)
        #expect(
            sourceFaults("a23456789012345678901234567-012345678_0z: {kind: feed, url: https://a.example}") == "none")
    }

    @Test("Kind and url are needed, and every fault of every source is reported") func missingAndBadKeys() {
        #expect(
            sourceFaults(
                "a: {kind: feed}", "b: {url: https://b.example}", "c: [1]",
                "d: {kind: feed, url: https://f.example, keep: 0s, enabled: yes}", "e: {kind: feed, url: }") == """
                    c.yaml:3: posts.sources.a: has no url; every source needs kind and url, or kind: exec and command
                    c.yaml:4: posts.sources.b: has no kind; every source needs kind and url, or kind: exec and command
                    c.yaml:5: posts.sources.c: expected a mapping with the keys \(sourceKeys), found a list
                    c.yaml:6: posts.sources.d.keep: expected a duration from 1s to 3650d, such as 90s, 15m, 6h or 7d, \
                    found "0s"
                    c.yaml:6: posts.sources.d.enabled: expected true or false, found "yes"
                    c.yaml:7: posts.sources.e.url: has no value; write an http or https URL
                    """)
    }
}
