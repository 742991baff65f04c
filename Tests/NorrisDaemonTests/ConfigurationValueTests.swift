import Testing

@testable import NorrisDaemon

private let durationHint = "; write one whole number and s, m, h or d, without a space"
private let sizeHint = "; write one whole number and B, KiB, MiB or GiB, without a space"

struct ConfigurationValueTests {
    private static let booleansCases: [(String, String)] = [
        ("yes", #": expected true or false, found "yes"; write true"#),
        ("On", #": expected true or false, found "On"; write true"#),
        ("no", #": expected true or false, found "no"; write false"#),
        ("TRUE", ": expected true or false, found TRUE; write true"),
        ("0", ": expected true or false, found 0; write false"),
        ("'false'", #": expected true or false, found "false"; write false, without quotes"#),
        ("[]", ": expected true or false, found a list"),
        ("", ": has no value; write true or false, or remove the line for the default"),
    ]

    @Test("Only true and false are booleans", arguments: booleansCases)
    func booleans(value: String, expected: String) {
        #expect(fault("facts", "enabled", value) == expected)
    }

    private static let countsCases: [(String, String)] = [
        ("0", ": expected a whole number from 1 to 65536, found 0"),
        ("65537", ": expected a whole number from 1 to 65536, found 65537"),
        ("-5", ": expected a whole number from 1 to 65536, found -5"),
        ("4096.0", ": expected a whole number from 1 to 65536, found 4096.0"),
        ("1e3", ": expected a whole number from 1 to 65536, found 1e3"),
        ("0x10", ": expected a whole number from 1 to 65536, found 0x10"),
        ("010", ": expected a whole number from 1 to 65536, found 010"),
        ("4_096", #": expected a whole number from 1 to 65536, found "4_096""#),
        ("99999999999999999999", ": expected a whole number from 1 to 65536, found 99999999999999999999"),
        ("'5'", #": expected a whole number from 1 to 65536, found "5"; remove the quotes"#),
        ("many", #": expected a whole number from 1 to 65536, found "many""#),
        ("null", ": has no value; write a whole number from 1 to 65536, or remove the line for the default"),
    ]

    @Test("Counts are whole numbers in their range", arguments: countsCases)
    func counts(value: String, expected: String) {
        #expect(fault("limits", "connections", value) == expected)
        #expect(fault("limits", "connections_per_user", value) == expected)
    }

    @Test func quotaHasItsOwnRange() {
        #expect(fault("gifs", "hourly_quota", "1000000") == "none")
        #expect(fault("gifs", "hourly_quota", "0") == ": expected a whole number from 1 to 1000000, found 0")
    }

    private static let durationsCases: [(String, String)] = [
        ("30", "30\(durationHint)"),
        ("1h30m", #""1h30m"\#(durationHint)"#),
        ("1.5h", #""1.5h"\#(durationHint)"#),
        ("15 m", #""15 m"\#(durationHint)"#),
        ("500ms", #""500ms"\#(durationHint)"#),
        ("15M", #""15M"\#(durationHint)"#),
        ("-1h", #""-1h"\#(durationHint)"#),
        ("h", #""h"\#(durationHint)"#),
        ("0s", #""0s""#),
        ("366d", #""366d""#),
        ("200000000000000d", #""200000000000000d"\#(durationHint)"#),
        ("{}", "a mapping"),
    ]

    @Test("Durations that are refused", arguments: durationsCases)
    func durations(value: String, found: String) {
        let expected = ": expected a duration from 1s to 365d, such as 90s, 15m, 6h or 7d, found "
        #expect(fault("facts", "refresh", value) == expected + found)
        #expect(fault("gifs", "refresh", value) == expected + found)
        #expect(fault("posts", "refresh", value) == expected + found)
    }

    @Test func durationsHaveTheirOwnRanges() {
        let form = ", such as 90s, 15m, 6h or 7d, found "
        #expect(fault("http", "timeout", "11m") == ": expected a duration from 1s to 10m" + form + #""11m""#)
        #expect(fault("gifs", "keep", "3651d") == ": expected a duration from 1s to 3650d" + form + #""3651d""#)
        #expect(fault("posts", "keep", "0d") == ": expected a duration from 1s to 3650d" + form + #""0d""#)
    }

    private static let sizesCases: [(String, String)] = [
        ("16MB", #""16MB"\#(sizeHint)"#),
        ("16777216", "16777216\(sizeHint)"),
        ("16 MiB", #""16 MiB"\#(sizeHint)"#),
        ("1023B", #""1023B""#),
        ("1GiB", #""1GiB""#),
        ("9007199254740993GiB", "\"9007199254740993GiB\"\(sizeHint)"),
    ]

    @Test("Sizes that are refused", arguments: sizesCases)
    func sizes(value: String, found: String) {
        let expected = ": expected a size from 1KiB to 256MiB, such as 64KiB or 16MiB, found "
        #expect(fault("http", "max_body", value) == expected + found)
    }

    private static let choicesCases: [(String, String, String, String)] = [
        ("log", "level", "5", ": expected trace, debug, info, notice, warning, error or critical, found 5"),
        ("gifs", "rating", "PG", #": expected g, pg, pg-13 or r, found "PG""#),
        ("gifs", "rating", "13", ": expected g, pg, pg-13 or r, found 13"),
    ]

    @Test("Words that are not one of the choices", arguments: choicesCases)
    func choices(section: String, key: String, value: String, expected: String) {
        #expect(fault(section, key, value) == expected)
    }

    @Test func everyChoiceIsRead() {
        for level in ["trace", "debug", "info", "notice", "warning", "error", "critical"] {
            #expect(fault("log", "level", level) == "none")
        }
        for rating in ["g", "pg", "pg-13", "r"] { #expect(fault("gifs", "rating", rating) == "none") }
    }

    private static let listsCases: [(String, String)] = [
        ("chuck", #": expected a list, found "chuck"; write [chuck]"#),
        ("{a: 1}", ": expected a list, found a mapping"),
        (
            "",
            ": has no value; write a list of which each item is a query of 3 to 120 characters, "
                + "or remove the line for the default"
        ),
        ("[true]", "[0]: expected a query of 3 to 120 characters, found true; put it in quotes"),
        ("[chuck, ~]", "[1]: expected a query of 3 to 120 characters, found ~"),
        ("[[chuck]]", "[0]: expected a query of 3 to 120 characters, found a list"),
        ("['']", "[0]: must not be empty; write something or remove it"),
        ("['  ']", "[0]: must not be empty; write something or remove it"),
        ("[\"chuck\\tn\"]", "[0]: must not hold control characters; remove them"),
        ("[\"chuck\\x85\"]", "[0]: must not hold control characters; remove them"),
        ("[ab]", #"[0]: expected a query of 3 to 120 characters, found "ab"; this has 2"#),
    ]

    @Test("Lists and their items", arguments: listsCases)
    func lists(value: String, expected: String) {
        #expect(fault("facts", "queries", value) == expected)
    }

    @Test("The length of a query is counted in UTF-16 units")
    func queryLengths() {
        let emoji = "\u{1F94B}"
        #expect(fault("facts", "queries", "[\(String(repeating: emoji, count: 60))]") == "none")
        #expect(fault("facts", "queries", "[\(String(repeating: emoji, count: 61))]").hasSuffix("; this has 122"))
        #expect(fault("gifs", "queries", "[\(String(repeating: "a", count: 50)), b]") == "none")
        #expect(
            fault("gifs", "queries", "[\(String(repeating: "a", count: 51))]")
                == "[0]: expected a query of 1 to 50 characters, found \"\(String(repeating: "a", count: 51))\"; this has 51"
        )
    }

    @Test func pathOfAnotherUserIsRefused() {
        #expect(
            fault("facts", "fortunes", "[~chuck/cookies]")
                == "[0]: expected a path that is absolute, begins with ~/ or is relative to the configuration file's "
                + #"folder, found "~chuck/cookies"; write that user's home directory in full"#
        )
        #expect(fault("gifs", "api_key_file", "''") == ": must not be empty; write something or remove it")
    }

    @Test func userAgentMustFitIntoAHeader() {
        let expected = ": expected a text of 1 to 256 printable ASCII characters, found "
        #expect(fault("http", "user_agent", "nörris") == expected + #""nörris""#)
        #expect(
            fault("http", "user_agent", String(repeating: "a", count: 257))
                == expected + "\"\(String(repeating: "a", count: 60))…\""
        )
    }

    @Test func groupsAreTexts() {
        #expect(
            faults("admin_groups:\n  - wheel\n  - 27\n")
                == "c.yaml:3: admin_groups[1]: expected the name of a group, as text, found 27; put it in quotes"
        )
    }

    @Test func homeIsNeededForTilde() {
        #expect(
            faults("gifs: {api_key_file: ~/key}", home: nil)
                == "c.yaml:1: gifs.api_key_file: begins with ~ but the home directory is unknown; "
                + "write an absolute path or set $HOME"
        )
    }
}

struct ConfigurationAddressTests {
    private static let baseURLsCases: [(String, String)] = [
        ("https://api.example", "https://api.example"),
        ("https://api.example/", "https://api.example"),
        ("HTTPS://api.example/v1//", "https://api.example/v1"),
        ("http://127.0.0.1:8080/a%20b/c", "http://127.0.0.1:8080/a%20b/c"),
        ("http://[::1]:1/x", "http://[::1]:1/x"),
        ("http://host_1.example.", "http://host_1.example."),
    ]

    @Test("Base URLs that are taken, without their trailing slashes", arguments: baseURLsCases)
    func baseURLs(written: String, expected: String) throws {
        let configuration = try parsed("facts: {base_url: '\(written)'}\ngifs: {base_url: '\(written)'}")
        #expect(configuration.facts.baseURL == expected)
        #expect(configuration.gifs.baseURL == expected)
    }

    private static let notAbsolute = "must be an absolute URL that begins with http:// or https://"
    private static let badURL =
        "is no valid URL; check the host (a name such as api.example.org or an address such as [::1]) and the port, "
        + "and write what no URL may hold as %XX"
    private static let userInfo = "must not hold a user name or password; remove what stands before @"

    private static let refusedURLsCases: [(String, String)] = [
        ("api.example", notAbsolute), ("/v1", notAbsolute), ("ftp://api.example", notAbsolute),
        ("https:/api.example", notAbsolute), ("file:///etc/passwd", notAbsolute),
        ("https://", badURL), ("https:///v1", badURL), ("https://a..b", badURL), ("https://a.1", badURL), ("https://[::g]", badURL),
        ("https://a%20b", badURL), ("https://[::1", badURL), ("https://[::1]x", badURL),
        ("https://host:0", badURL), ("https://host:65536", badURL),
        ("https://host:+80", badURL), ("https://a b", badURL), ("https://höst", badURL),
        ("https://host/%zz", badURL), ("https://host/%2", badURL), ("https://host/<a>", badURL),
        ("https://user:secret@host", userInfo), ("https://@host", userInfo),
        ("https://host?a=1", "must not hold a query; remove ? and what follows"),
        ("https://host/#part", "must not hold a fragment; remove # and what follows"),
    ]

    @Test("URLs that are refused", arguments: refusedURLsCases)
    func refusedURLs(written: String, expected: String) {
        #expect(fault("facts", "base_url", "'\(written)'") == ": " + expected)
        #expect(fault("posts", "sources", "{a: {kind: mastodon, url: '\(written)'}}") == ".a.url: " + expected)
    }

    @Test func numberIsNoURL() {
        #expect(fault("facts", "base_url", "5") == ": expected an http or https URL, found 5; put it in quotes")
        #expect(fault("facts", "base_url", "[a]") == ": expected an http or https URL, found a list")
    }

    private static let refusedProxiesCases: [(String, String)] = [
        ("proxy.example:3128", notAbsolute),
        ("chuck:secret@proxy.example", notAbsolute),
        (
            "https://chuck:secret@proxy.example",
            "must begin with http://; what is https stays encrypted through the proxy"
        ),
        (
            "http://chuck:secret@proxy.example/path",
            "must end after the host and port; remove the path, query or fragment"
        ),
        ("http://chuck:secret@proxy.example?a", "must end after the host and port; remove the path, query or fragment"),
        ("http://chuck:secret@proxy.example:x", badURL),
        ("http://chuck:secret secret@proxy.example", badUser),
        ("http://:secret@proxy.example", badUser),
        ("http://chuck:%FF@proxy.example", badUser),
        ("http://chuck:50%@proxy.example", badUser),
    ]

    private static let badUser =
        "has a user name or password that is empty or not UTF-8; write USER:PASSWORD@HOST, signs as %XX"

    @Test("Proxies that are refused, without a word of what they hold", arguments: refusedProxiesCases)
    func refusedProxies(written: String, expected: String) {
        #expect(fault("http", "proxy", "'\(written)'") == ": " + expected)
    }

    @Test func mappingIsNoProxy() {
        let expected = ": expected a URL such as http://proxy.example:3128, found a mapping"
        #expect(fault("http", "proxy", "{host: a}") == expected)
    }
}
