@testable import NorrisDaemon
import NorrisUpstream
import Testing

private let loader = ConfigurationLoader(home: "/home/chuck", currentDirectory: "/srv")

struct ConfigurationPrintTests {
    @Test func defaultsArePrinted() {
        #expect(
            Configuration().yaml == """
                log:
                  level: info
                admin_groups: []
                limits:
                  connections: 4096
                  connections_per_user: 256
                http:
                  timeout: 10s
                  max_body: 16MiB
                  user_agent: "norrisd/1 (+url)"
                  proxy: null
                facts:
                  enabled: true
                  base_url: https://api.chucknorris.io
                  refresh: 24h
                  queries: [chuck, norris]
                  fortunes: []
                  mix_fortunes: false
                gifs:
                  enabled: true
                  base_url: https://api.giphy.com
                  api_key_file: null
                  rating: g
                  refresh: 6h
                  queries: [chuck norris]
                  keep: 24h
                  hourly_quota: 100
                posts:
                  refresh: 30m
                  keep: 90d
                  sources: {}

                """
        )
    }

    @Test func defaultsComeBack() throws {
        #expect(try loader.parse(yaml: Configuration().yaml, file: "c.yaml").configuration == Configuration())
    }

    @Test("What is printed reads as the same again, however odd the texts are")
    func everythingComesBack() throws {
        let yaml = #"""
            log: {level: critical}
            admin_groups: ["yes", "5", "~", "- a", "a: b", "a #b", "x:", "[x]", "{", "&a", "*a", "!a", "%a", "@a", "'", "\"", "\\",
              " pad ", "ünï", "\u202E", "\U0001F94B", "null", "1:30", "2001-01-01", "a,b", "=", "<<", "y", "0x1", ".5", "?"]
            limits: {connections: 1, connections_per_user: 65536}
            http: {timeout: 61s, max_body: 1025B, user_agent: "a\\b \"c\" #", proxy: "http://chuck@proxy.example:3128"}
            facts: {enabled: false, base_url: "http://[::1]:8080/x", refresh: 25h, queries: [], fortunes: [~/a b, "/c: d"], mix_fortunes: true}
            gifs: {enabled: false, api_key_file: key, rating: pg-13, refresh: 48h, queries: ["a:b"], keep: 3600s, hourly_quota: 1}
            posts:
              refresh: 7m
              keep: 1d
              sources:
                "null": {kind: feed, url: "https://a.example/?x=[1],(2)&y=*", refresh: 8m}
                "12": {kind: users-posts, url: "https://b.example/api", enabled: false, keep: 2d}
            """#
        let configuration = try loader.parse(yaml: yaml, file: "c.yaml").configuration
        #expect(configuration.adminGroups.count == 31)
        let printed = configuration.yaml
        #expect(try loader.parse(yaml: printed, file: "elsewhere/c.yaml").configuration == configuration)
        let sources = """
              sources:
                "null": {kind: feed, url: "https://a.example/?x=[1],(2)&y=*", enabled: true, refresh: 8m, keep: 24h}
                "12": {kind: users-posts, url: https://b.example/api, enabled: false, refresh: 7m, keep: 2d}
            """
        #expect(printed.hasSuffix(sources + "\n"))
        #expect(printed.contains(#""\u202E""#))
    }

    @Test func passwordIsMasked() throws {
        let yaml = "http: {proxy: 'http://chuck:s%65cret@proxy.example:3128'}"
        let printed = try loader.parse(yaml: yaml, file: "c.yaml").configuration.yaml
        #expect(printed.contains("  proxy: \"http://chuck:***@proxy.example:3128\"\n"))
        #expect(!printed.contains("cret@"))
        let again = try loader.parse(yaml: printed, file: "c.yaml").configuration
        #expect(again.http.proxy?.password == "***")
    }

    @Test("Durations and sizes are printed in the largest unit that loses nothing")
    func units() {
        var configuration = Configuration()
        func printed(_ duration: Duration) -> Substring? {
            configuration.gifs.keep = duration
            return configuration.yaml.split(separator: "\n").first { $0.hasPrefix("  keep: ") }?.dropFirst(8)
        }
        let durations = [1, 60, 61, 3600, 3660, 86_400, 172_800, 90_000].map { printed(.seconds($0)) }
        #expect(durations == ["1s", "1m", "61s", "1h", "61m", "24h", "2d", "25h"])

        func printed(_ bytes: Int) -> Substring? {
            configuration.http.maxBody = bytes
            return configuration.yaml.split(separator: "\n").first { $0.hasPrefix("  max_body: ") }?.dropFirst(12)
        }
        let sizes = [1, 1024, 1025, 3 << 20, 1 << 30].map { (bytes: Int) in printed(bytes) }
        #expect(sizes == ["1B", "1KiB", "1025B", "3MiB", "1GiB"])
    }

    @Test("The reference lists every key once, with its default")
    func reference() throws {
        let reference = ConfigurationSchema.reference
        #expect(
            reference.map(\.path) == [
                "log.level", "admin_groups", "limits.connections", "limits.connections_per_user", "http.timeout",
                "http.max_body", "http.user_agent", "http.proxy", "facts.enabled", "facts.base_url", "facts.refresh",
                "facts.queries", "facts.fortunes", "facts.mix_fortunes", "gifs.enabled", "gifs.base_url",
                "gifs.api_key_file", "gifs.rating", "gifs.refresh", "gifs.queries", "gifs.keep", "gifs.hourly_quota",
                "posts.refresh", "posts.keep", "posts.sources", "posts.sources.NAME.kind", "posts.sources.NAME.url",
                "posts.sources.NAME.enabled", "posts.sources.NAME.refresh", "posts.sources.NAME.keep",
            ]
        )
        #expect(reference.allSatisfy { $0.summary.hasSuffix(".") && !$0.accepts.isEmpty })
        let refresh = try #require(reference.first { $0.path == "facts.refresh" })
        #expect(refresh.defaultText == "24h")
        #expect(refresh.accepts == "a duration from 1s to 365d, such as 90s, 15m, 6h or 7d")
        #expect(reference.filter { $0.defaultText == nil }.count == 4)
    }
}
