@testable import NorrisDaemon
import Testing

/// What the loader says of a text, one fault a line.
private func faults(_ yaml: String, home: String? = "/home/chuck") -> String {
    do {
        _ = try ConfigurationLoader(home: home, currentDirectory: "/srv").parse(yaml: yaml, file: "c.yaml")
        return "none"
    } catch {
        return error.description
    }
}

struct ConfigurationFaultTests {
    private static let unknownKeysCases: [(String, String)] = [
        ("facts:\n  refersh: 1h", "c.yaml:2: facts.refersh: unknown key; did you mean facts.refresh?"),
        ("facts: {Base-URL: x}", "c.yaml:1: facts.Base-URL: unknown key; did you mean facts.base_url?"),
        ("lgo: {level: info}", "c.yaml:1: lgo: unknown key; did you mean log?"),
        ("facts: {rating: g}", "c.yaml:1: facts.rating: unknown key; did you mean gifs.rating?"),
        (
            "refresh: 1h",
            "c.yaml:1: refresh: unknown key; did you mean facts.refresh, gifs.refresh or posts.refresh?"
        ),
        (
            "facts:\n  enabled: true\n  gifs: {}\n  admin_groups: []",
            """
            c.yaml:3: facts.gifs: unknown key; it belongs at the top of the file; do not indent it
            c.yaml:4: facts.admin_groups: unknown key; it belongs at the top of the file; do not indent it
            """
        ),
        ("facts.refresh: 1h", "c.yaml:1: facts.refresh: unknown key; write it as facts: {refresh: …}"),
        (
            "zebra: 1",
            "c.yaml:1: zebra: unknown key; valid here: log, admin_groups, limits, http, facts, gifs, posts"
        ),
        (
            "http: {}\nposts:\n  sources:\n    a:\n      knd: feed\n      rating: g\n      url: https://a.example",
            """
            c.yaml:5: posts.sources.a.knd: unknown key; did you mean posts.sources.a.kind?
            c.yaml:6: posts.sources.a.rating: unknown key; valid here: kind, url, enabled, refresh, keep
            """
        ),
        ("facts: {<<: {enabled: true}}", "c.yaml:1: facts.<<: merge keys are not supported; write the keys out"),
        (
            "\"a\\e[31m\\u202Eb\": 1",
            #"c.yaml:1: "a\x1B[31m\u202Eb": unknown key; "#
                + "valid here: log, admin_groups, limits, http, facts, gifs, posts"
        ),
        ("? [facts]\n: 1", "c.yaml:1: has a list or a mapping for a key; write KEY: VALUE"),
        (
            "*x : 1",
            "c.yaml:1: is an alias of nothing that stands above it; put a text that begins with * in quotes"
        ),
    ]

    @Test("Unknown keys name the nearest valid one, or all", arguments: unknownKeysCases)
    func unknownKeys(yaml: String, expected: String) {
        #expect(faults(yaml) == expected)
    }

    private static let sectionsCases: [(String, String)] = [
        (
            "[facts]",
            "c.yaml:1: expected a mapping with the keys log, admin_groups, limits, http, facts, gifs, posts, "
                + "found a list"
        ),
        (
            "facts",
            "c.yaml:1: expected a mapping with the keys log, admin_groups, limits, http, facts, gifs, posts, "
                + "found a text; put the keys below it, indented"
        ),
        (
            "null",
            "c.yaml:1: expected a mapping with the keys log, admin_groups, limits, http, facts, gifs, posts, "
                + "found null"
        ),
        ("\nlog: [info]", "c.yaml:2: log: expected a mapping with the keys level, found a list"),
        ("log: ~", "c.yaml:1: log: expected a mapping with the keys level, found ~"),
        (
            "http:\n  proxy:http://chuck:secret@proxy.example\n",
            "c.yaml:2: http: expected a mapping with the keys timeout, max_body, user_agent, proxy, "
                + "found a text; put a space after the colon"
        ),
        ("log: !!omap {level: info}", #"c.yaml:1: log: has the tag "!!omap", which means nothing here; remove it"#),
        ("log: {level: !x info}", #"c.yaml:1: log.level: has the tag "!x", which means nothing here; remove it"#),
    ]

    @Test("A section is a mapping", arguments: sectionsCases)
    func sections(yaml: String, expected: String) {
        #expect(faults(yaml) == expected)
    }

    @Test("All faults are reported at once, in the order of the file")
    func allFaults() {
        let yaml = """
            gifs:
              rating: x
              zebra: 1
            facts:
              enabled: maybe
              queries: [ab, chuck, 5]
            log: {level: loud}
            """
        #expect(
            faults(yaml) == """
                c.yaml:2: gifs.rating: expected g, pg, pg-13 or r, found "x"
                c.yaml:3: gifs.zebra: unknown key; valid here: enabled, base_url, api_key_file, rating, refresh, \
                queries, keep, hourly_quota
                c.yaml:5: facts.enabled: expected true or false, found "maybe"
                c.yaml:6: facts.queries[0]: expected a query of 3 to 120 characters, found "ab"; this has 2
                c.yaml:6: facts.queries[2]: expected a query of 3 to 120 characters, found 5; put it in quotes
                c.yaml:7: log.level: expected trace, debug, info, notice, warning, error or critical, found "loud"
                """
        )
    }

    @Test("A fault in an alias is reported where it is used")
    func aliasLine() {
        #expect(
            faults("facts:\n  queries: &q [chuck]\ngifs:\n  rating: *q\n")
                == "c.yaml:4: gifs.rating: expected g, pg, pg-13 or r, found a list"
        )
    }

    @Test("What an alias names is faulty where the alias stands, and the key where the key stands")
    func linesOfAliasesAndKeys() {
        #expect(
            faults("facts:\n  queries: &q\n  - 5\ngifs:\n  rating: g\n  queries: *q\nzebra:\n  a: 1\n") == """
                c.yaml:3: facts.queries[0]: expected a query of 3 to 120 characters, found 5; put it in quotes
                c.yaml:6: gifs.queries[0]: expected a query of 1 to 50 characters, found 5; put it in quotes
                c.yaml:7: zebra: unknown key; valid here: log, admin_groups, limits, http, facts, gifs, posts
                """
        )
        #expect(
            faults("facts: &f\n  fortunes: []\ngifs: *f\n")
                == "c.yaml:3: gifs.fortunes: unknown key; did you mean facts.fortunes?"
        )
    }

    @Test("A doubled key, a second document and a broken alias hide no other fault")
    func nothingIsHidden() {
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
                a: {kind: rss, url: https://a.example}
            ---
            more: 1
            """
        let levels = "trace, debug, info, notice, warning, error or critical"
        let alias = "is an alias of nothing that stands above it; put a text that begins with * in quotes"
        #expect(
            faults(yaml) == """
                c.yaml:1: log.level: expected \(levels), found "loud"
                c.yaml:3: facts.enabled: expected true or false, found "maybe"
                c.yaml:4: facts.enabled: stands in line 3 already, in the same mapping; keep one of the two
                c.yaml:5: facts.queries[0]: \(alias)
                c.yaml:5: facts.queries[1]: expected a query of 3 to 120 characters, found "ab"; this has 2
                c.yaml:6: log: stands in line 1 already, in the same mapping; keep one of the two
                c.yaml:6: log.level: expected \(levels), found "quiet"
                c.yaml:10: posts.sources.b.kind: \(alias)
                c.yaml:11: posts.sources.a: stands in line 9 already, in the same mapping; keep one of the two
                c.yaml:11: posts.sources.a.kind: expected feed, mastodon or users-posts, found "rss"
                c.yaml:13: holds a second document; keep one and remove the line --- between them
                """
        )
    }

    @Test(
        "An alias of what it stands in is refused, not followed",
        arguments: [
            ("facts: {queries: &q [chuck, *q]}", "facts.queries[1]"), ("&r\nfacts: *r", "facts"),
            ("facts: &f\n  queries: [*f]", "facts.queries[0]"),
        ]
    )
    func endlessAlias(yaml: String, key: String) {
        let line = yaml.split(separator: "\n").count
        let message = "is an alias of what it stands in, which has no end; write the values out"
        #expect(faults(yaml) == "c.yaml:\(line): \(key): \(message)")
    }

    @Test("Aliases that multiply, endless lists and deep nesting end early")
    func boundsOfYAML() {
        let tenfold = (1...9).map { "a\($0): &a\($0) [\(String(repeating: "*a\($0 - 1),", count: 10))]\n" }
        #expect(
            faults("a0: &a0 x\n" + tenfold.joined())
                == "c.yaml:6: holds more than 100000 values, aliases followed; remove some"
        )
        let many = "admin_groups: [\(String(repeating: "a,", count: 100_001))]"
        #expect(faults(many) == "c.yaml:1: holds more than 100000 values, aliases followed; remove some")
        for open in ["[", "{a: ", "- "] {
            #expect(
                faults(String(repeating: open, count: 200_000))
                    == "c.yaml:1: is nested deeper than any key; check the brackets"
            )
        }
        let allowed = String(repeating: "[", count: 31) + String(repeating: "]", count: 31)
        #expect(faults("facts: \(allowed)").hasSuffix("found a list"))
    }

    @Test("Long values are cut in messages")
    func longValue() {
        #expect(
            faults("gifs: {rating: \(String(repeating: "g", count: 61))}")
                == "c.yaml:1: gifs.rating: expected g, pg, pg-13 or r, "
                + "found \"\(String(repeating: "g", count: 60))…\""
        )
    }

    private static let notYAMLCases: [(String, String)] = [
        (
            "log: {}\na: b: c",
            "c.yaml:2: is not YAML here: mapping values are not allowed in this context; "
                + "check the indentation (spaces, no tabs), quotes and brackets"
        ),
        (
            "facts:\n  queries: [chuck\ngifs: {}\n",
            "c.yaml:3: is not YAML here: did not find expected ',' or ']' "
                + "(while parsing a flow sequence that begins in line 2); "
                + "check the indentation (spaces, no tabs), quotes and brackets"
        ),
        (
            "facts:\n\tenabled: true",
            "c.yaml:2: is not YAML here: found character that cannot start any token "
                + "(while scanning for the next token that begins in line 2); "
                + "check the indentation (spaces, no tabs), quotes and brackets"
        ),
        (
            "log:\n  level: *here",
            "c.yaml:2: log.level: is an alias of nothing that stands above it; put a text that begins with * in quotes"
        ),
        (
            "log:\r\n  level: in\u{0}fo",
            "c.yaml:2: is not YAML here: control characters are not allowed; remove the character"
        ),
        ("log: {}\n---\n", "c.yaml:3: holds a second document; keep one and remove the line --- between them"),
        (
            "log: {}\n---\nlog: {}",
            "c.yaml:3: holds a second document; keep one and remove the line --- between them"
        ),
        (
            "log: {}\nfacts: {}\nlog: {level: info}",
            "c.yaml:3: log: stands in line 1 already, in the same mapping; keep one of the two"
        ),
        (
            "facts:\n  enabled: true\n  \"enabled\": true",
            "c.yaml:3: facts.enabled: stands in line 2 already, in the same mapping; keep one of the two"
        ),
    ]

    @Test("What is not YAML is said with the line", arguments: notYAMLCases)
    func notYAML(yaml: String, expected: String) {
        #expect(faults(yaml) == expected)
    }

    @Test func homeIsNeededForTilde() {
        #expect(
            faults("gifs: {api_key_file: ~/key}", home: nil)
                == "c.yaml:1: gifs.api_key_file: begins with ~ but the home directory is unknown; "
                + "write an absolute path or set $HOME"
        )
    }

    @Test("A fault prints the parts that are known")
    func faultDescription() {
        let fault = ConfigurationFault(file: "/c.yaml", line: 3, key: "log.level", message: "wrong")
        #expect(fault.description == "/c.yaml:3: log.level: wrong")
        #expect(ConfigurationFault(file: "/c.yaml", message: "wrong").description == "/c.yaml: wrong")
        #expect(ConfigurationError(faults: [fault, fault]).description == "\(fault)\n\(fault)")
    }
}
