import Testing

@testable import NorrisDaemon

/// Tests of the valid values of each kind.
struct ConfigurationValueTests {
    typealias Case = (key: String, value: String, expected: String)

    /// Returns cases of a key whose values have another kind than the expected kind.
    private static func refused(_ key: String, expected: String, _ cases: (value: String, found: String)...) -> [Case] {
        cases.map { (key, $0.value, ": expected \(expected), found \($0.found)") }
    }

    private static let booleans: [Case] =
        refused(
            "facts.enabled", expected: "true or false", ("yes", #""yes""#), ("0", #""0""#), ("True", #""True""#),
            ("[]", "a list")
        ) + [("facts.enabled", "", ": has no value; write true or false, or remove the line for the default")]

    private static let counts: [Case] =
        refused(
            "limits.connections", expected: "a whole number from 1 to 65536", ("0", #""0""#), ("65537", #""65537""#),
            ("1e3", #""1e3""#), ("0x10", #""0x10""#), ("010", #""010""#), ("+5", #""+5""#), ("-0", #""-0""#),
            ("99999999999999999999", #""99999999999999999999""#), ("many", #""many""#)) + [
            (
                "limits.connections", "null",
                ": has no value; write a whole number from 1 to 65536, or remove the line for the default"
            ), ("gifs.hourly_quota", "1000000", "none"),
        ]

    private static let quantities: [Case] =
        refused(
            "facts.refresh", expected: "a duration from 1s to 365d, such as 90s, 15m, 6h or 7d",
            ("30", #""30""#), ("1.5h", #""1.5h""#), ("15 m", #""15 m""#),
            ("15M", #""15M""#), ("-1h", #""-1h""#), ("h", #""h""#),
            ("0s", #""0s""#), ("366d", #""366d""#), ("200000000000000d", #""200000000000000d""#))
        + refused("http.timeout", expected: "a duration from 1s to 10m, such as 90s, 15m, 6h or 7d", ("11m", #""11m""#))
        + refused(
            "http.max_body", expected: "a size from 1KiB to 32MiB, such as 64KiB or 16MiB",
            ("16MB", #""16MB""#), ("16777216", #""16777216""#), ("1023B", #""1023B""#),
            ("1GiB", #""1GiB""#), ("9007199254740993GiB", #""9007199254740993GiB""#))

    private static let words: [Case] =
        refused("gifs.rating", expected: "g, pg, pg-13 or r", ("PG", #""PG""#), ("13", #""13""#))
        + ["trace", "debug", "info", "notice", "warning", "error", "critical"].map { ("log.level", $0, "none") }
        + ["g", "pg", "pg-13", "r"].map { ("gifs.rating", $0, "none") }

    private static let notVisible = ": must hold a visible character and no control character; correct or remove it"

    private static let lists: [Case] =
        refused(
            "facts.queries", expected: "a list, each item a query of 3 to 120 characters", ("chuck", #""chuck""#),
            ("{a: 1}", "a mapping"))
        + [
            (
                "",
                ": has no value; write a list, each item a query of 3 to 120 characters, "
                    + "or remove the line for the default"
            ), ("[~]", "[0]: expected a query of 3 to 120 characters, found nothing"),
            ("[[chuck]]", "[0]: expected a query of 3 to 120 characters, found a list"),
            ("['  ']", "[0]\(notVisible)"),
            ("[\"chuck\\x85\"]", "[0]\(notVisible)"),
            ("[ab]", #"[0]: expected a query of 3 to 120 characters, found "ab""#),
            // The limit counts UTF-16 units.
            ("[\(String(repeating: "🥋", count: 60))]", "none"),
            (
                "[\(String(repeating: "🥋", count: 61))]",
                "[0]: expected a query of 3 to 120 characters, found \"\(String(repeating: "🥋", count: 60))…\""
            ),
        ].map { ("facts.queries", $0.0, $0.1) } + [
            (
                "gifs.queries", "[\(String(repeating: "a", count: 50)), b, \(String(repeating: "a", count: 51))]",
                "[2]: expected a query of 1 to 50 characters, found \"\(String(repeating: "a", count: 51))\""
            )
        ]

    private static let texts: [Case] =
        [
            (
                "facts.fortunes", "[~chuck/cookies]",
                "[0]: expected a path that is absolute, begins with ~/ or is relative to the configuration file's "
                    + #"folder, found "~chuck/cookies""#
            ), ("gifs.api_key_file", "''", notVisible),
        ]
        + refused(
            "http.user_agent", expected: "a text of 1 to 256 printable ASCII characters", ("nörris", #""nörris""#),
            (String(repeating: "a", count: 257), "\"\(String(repeating: "a", count: 60))…\""))
        + refused("facts.base_url", expected: "an http or https URL", ("[a]", "a list"))

    private static let notAbsolute = ": must be an absolute URL that begins with http:// or https://"
    private static let badURL =
        ": is no valid URL; check the host (a name such as api.example.org or an address such as [::1]) and the port, "
        + "and write what no URL may hold as %XX"
    private static let userInfo = ": must not contain a user name or password; remove the part before @"
    private static let afterHost = ": must end after the host and port; remove the path, query or fragment"
    private static let badUser =
        ": has a user name or password that is empty or not UTF-8; write USER:PASSWORD@HOST, signs as %XX"

    private static let urls: [Case] = [
        (notAbsolute, ["api.example", "https:/api.example", "file:///etc/passwd"]),
        (
            badURL,
            ["https://", "https://a..b", "https://[::1", "https://host:65536", "https://a b", "https://host/<a>"]
        ),
        (userInfo, ["https://user:secret@host"]),
        (": must not contain a query; remove ? and the part after it", ["https://host?a=1"]),
        (": must not contain a fragment; remove # and the part after it", ["https://host/#part"]),
    ].flatMap { expected, urls in urls.map { ("facts.base_url", "'\($0)'", expected) } }

    /// No message contains any part of a proxy value.
    private static let proxies: [Case] = [
        ("proxy.example:3128", notAbsolute), ("chuck:secret@proxy.example", notAbsolute),
        (
            "https://chuck:secret@proxy.example",
            ": must begin with http://; what is https stays encrypted through the proxy"
        ), ("http://chuck:secret@proxy.example/path", afterHost), ("http://chuck:secret@proxy.example:x", badURL),
        ("http://chuck:50%@proxy.example", badUser), ("http://:secret@proxy.example", badUser),
        ("http://chuck:%FF@proxy.example", badUser),
    ].map { ("http.proxy", "'\($0.0)'", $0.1) }

    @Test("One key with one value", arguments: booleans + counts + quantities + words + lists + texts + urls + proxies)
    func values(key: String, value: String, expected: String) { #expect(fault(key, value) == expected) }

    @Test(
        "Base URLs that are taken, without their trailing slashes",
        arguments: [
            ("HTTPS://api.example/v1//", "https://api.example/v1"),
            ("http://127.0.0.1:8080/a%20b/c", "http://127.0.0.1:8080/a%20b/c"),
            ("http://[::1]:1/x", "http://[::1]:1/x"),
        ])
    func baseURLs(written: String, expected: String) throws {
        let configuration = try parsed("facts: {base_url: '\(written)'}\ngifs: {base_url: '\(written)'}")
        #expect(configuration.facts.baseURL == expected)
        #expect(configuration.gifs.baseURL == expected)
    }

    @Test func homeIsNeededForTilde() {
        #expect(
            faults("gifs: {api_key_file: ~/key}", home: nil)
                == "c.yaml:1: gifs.api_key_file: begins with ~ but the home directory is unknown; "
                + "write an absolute path or set $HOME")
    }
}
