@testable import NorrisDaemon
import Testing

/// The message about one key with one value; "none" if it is fine.
private func message(_ yaml: String) -> String {
    do {
        _ = try ConfigurationLoader(home: nil, currentDirectory: "/").parse(yaml: yaml, file: "c.yaml")
        return "none"
    } catch {
        return error.faults.map(\.message).joined(separator: "\n")
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
        let loader = ConfigurationLoader(home: nil, currentDirectory: "/")
        let yaml = "facts: {base_url: '\(written)'}\ngifs: {base_url: '\(written)'}"
        let configuration = try loader.parse(yaml: yaml, file: "c.yaml").configuration
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
        #expect(message("facts: {base_url: '\(written)'}") == expected)
        #expect(message("posts: {sources: {a: {kind: mastodon, url: '\(written)'}}}") == expected)
    }

    @Test func numberIsNoURL() {
        #expect(message("facts: {base_url: 5}") == "expected an http or https URL, found 5; put it in quotes")
        #expect(message("facts: {base_url: [a]}") == "expected an http or https URL, found a list")
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
        (
            "http://chuck:secret@proxy.example?a",
            "must end after the host and port; remove the path, query or fragment"
        ),
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
        #expect(message("http: {proxy: '\(written)'}") == expected)
    }

    @Test func mappingIsNoProxy() {
        #expect(
            message("http: {proxy: {host: a}}")
                == "expected a URL such as http://proxy.example:3128, found a mapping"
        )
    }
}
