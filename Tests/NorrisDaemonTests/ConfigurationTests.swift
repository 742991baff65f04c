@testable import NorrisDaemon
import NorrisTestSupport
import NorrisUpstream
import Testing

/// A loader as on a machine where user chuck started norrisd in /srv.
private let loader = ConfigurationLoader(home: "/home/chuck", currentDirectory: "/srv")

struct ConfigurationTests {
    @Test("The documented sample says what the defaults are")
    func sampleIsTheDefaults() throws {
        let sample = """
            log: {level: info}
            admin_groups: []
            limits: {connections: 4096, connections_per_user: 256}
            http: {timeout: 10s, max_body: 16MiB, user_agent: "norrisd/1 (+url)", proxy: null}
            facts:
              enabled: true
              base_url: https://api.chucknorris.io
              refresh: 24h
              queries: [chuck, norris]      # bulk prefetch through /jokes/search
              fortunes: []                  # fortune cookie files or folders to read as well
              mix_fortunes: false           # whether they come where no category is asked for
            gifs:
              enabled: true                 # needs a key; without one the source says so and rests
              base_url: https://api.giphy.com
              api_key_file: null            # or the systemd credential "giphy-api-key"
              rating: g
              refresh: 6h
              queries: [chuck norris]
              keep: 24h                     # nothing of a gif but its id and title outlives this
              hourly_quota: 100
            posts:
              refresh: 30m
              keep: 90d                     # counted from the last fetch that still held the post
              sources: {}
                # planet: {kind: feed, url: https://planet.debian.org/rss20.xml}
                # town:   {kind: mastodon, url: https://mastodon.example}
                # team:   {kind: users-posts, url: https://intranet.example/api}
            """
        let loaded = try loader.parse(yaml: sample, file: "/etc/norrisd/config.yaml")
        #expect(loaded == .init(configuration: Configuration()))
    }

    @Test func defaultsAreThoseOfTheDocumentation() {
        let defaults = Configuration()
        #expect(defaults.log.level == .info)
        #expect(defaults.adminGroups.isEmpty)
        #expect(defaults.limits.connections == 4096)
        #expect(defaults.limits.connectionsPerUser == 256)
        #expect(defaults.http.timeout == .seconds(10))
        #expect(defaults.http.maxBody == 16 * 1024 * 1024)
        #expect(defaults.http.userAgent == "norrisd/1 (+url)")
        #expect(defaults.http.proxy == nil)
        #expect(defaults.facts.enabled)
        #expect(defaults.facts.baseURL == "https://api.chucknorris.io")
        #expect(defaults.facts.refresh == .seconds(24 * 3600))
        #expect(defaults.facts.queries == ["chuck", "norris"])
        #expect(defaults.facts.fortunes.isEmpty)
        #expect(!defaults.facts.mixFortunes)
        #expect(defaults.gifs.enabled)
        #expect(defaults.gifs.baseURL == "https://api.giphy.com")
        #expect(defaults.gifs.apiKeyFile == nil)
        #expect(defaults.gifs.rating == .g)
        #expect(defaults.gifs.refresh == .seconds(6 * 3600))
        #expect(defaults.gifs.queries == ["chuck norris"])
        #expect(defaults.gifs.keep == .seconds(24 * 3600))
        #expect(defaults.gifs.hourlyQuota == 100)
        #expect(defaults.posts.refresh == .seconds(30 * 60))
        #expect(defaults.posts.keep == .seconds(90 * 86_400))
        #expect(defaults.posts.sources.isEmpty)
    }

    @Test("Every key can be set")
    func everyKeyIsRead() throws {
        let yaml = """
            log: {level: trace}
            admin_groups: [wheel, "100"]
            limits: {connections: 10, connections_per_user: 2}
            http: {timeout: 1m, max_body: 64KiB, user_agent: me/2, proxy: http://proxy.example}
            facts:
              enabled: false
              base_url: http://localhost:8080/chuck/
              refresh: 7d
              queries: [roundhouse kick]
              fortunes: [/usr/share/games/fortunes]
              mix_fortunes: true
            gifs:
              enabled: false
              base_url: https://gifs.example
              api_key_file: /etc/giphy.key
              rating: pg-13
              refresh: 15m
              queries: []
              keep: 90s
              hourly_quota: 5
            posts:
              refresh: 1h
              keep: 2d
              sources:
                planet: {kind: feed, url: "https://planet.example/rss?n=1", refresh: 6h}
                town: {kind: mastodon, url: https://mastodon.example/, enabled: false, keep: 30d}
                team_2-x: {kind: users-posts, url: "https://intranet.example/api"}
            """
        var expected = Configuration()
        expected.log.level = .trace
        expected.adminGroups = ["wheel", "100"]
        expected.limits.connections = 10
        expected.limits.connectionsPerUser = 2
        expected.http.timeout = .seconds(60)
        expected.http.maxBody = 65_536
        expected.http.userAgent = "me/2"
        expected.facts.enabled = false
        expected.facts.baseURL = "http://localhost:8080/chuck"
        expected.facts.refresh = .seconds(7 * 86_400)
        expected.facts.queries = ["roundhouse kick"]
        expected.facts.fortunes = ["/usr/share/games/fortunes"]
        expected.facts.mixFortunes = true
        expected.gifs.enabled = false
        expected.gifs.baseURL = "https://gifs.example"
        expected.gifs.apiKeyFile = "/etc/giphy.key"
        expected.gifs.rating = .pg13
        expected.gifs.refresh = .seconds(15 * 60)
        expected.gifs.queries = []
        expected.gifs.keep = .seconds(90)
        expected.gifs.hourlyQuota = 5
        expected.posts.refresh = .seconds(3600)
        expected.posts.keep = .seconds(2 * 86_400)
        expected.posts.sources = [
            .init(
                name: "planet", kind: .feed, url: "https://planet.example/rss?n=1",
                refresh: .seconds(6 * 3600), keep: .seconds(2 * 86_400)
            ),
            .init(
                name: "town", kind: .mastodon, url: "https://mastodon.example", enabled: false,
                refresh: .seconds(3600), keep: .seconds(30 * 86_400)
            ),
            .init(
                name: "team_2-x", kind: .usersPosts, url: "https://intranet.example/api",
                refresh: .seconds(3600), keep: .seconds(2 * 86_400)
            ),
        ]
        let loaded = try loader.parse(yaml: yaml, file: "/etc/norrisd/config.yaml")
        let proxy = try #require(loaded.configuration.http.proxy)
        #expect((proxy.host, proxy.port, proxy.user, proxy.password) == ("proxy.example", 80, nil, nil))
        expected.http.proxy = proxy
        #expect(loaded.configuration == expected)
        #expect(loaded.warnings.isEmpty)
    }

    @Test(
        "Nothing in a file means the defaults",
        arguments: [
            "", "\n", "# only a comment\n", "---\n", "{}", "\u{FEFF}# a byte order mark\n",
            "facts:\n  # refresh: 1h\ngifs:\n", "posts:\n  sources:\n    # planet: {}\n", "http: {proxy: }\n",
            "http: {proxy: ~}\ngifs: {api_key_file: null}\n",
        ]
    )
    func nothingIsTheDefaults(yaml: String) throws {
        #expect(try loader.parse(yaml: yaml, file: "c.yaml").configuration == Configuration())
    }

    @Test func listInTheFileReplacesTheDefault() throws {
        let configuration = try loader.parse(yaml: "facts: {queries: [kick]}", file: "c.yaml").configuration
        #expect(configuration.facts.queries == ["kick"])
        #expect(configuration.gifs.queries == ["chuck norris"])
    }

    @Test func anchorsAndAliasesAreFollowed() throws {
        let yaml = """
            facts:
              queries: &both [chuck, "norris kick"]
            gifs:
              queries: *both
            """
        let configuration = try loader.parse(yaml: yaml, file: "c.yaml").configuration
        #expect(configuration.gifs.queries == ["chuck", "norris kick"])
    }

    @Test func wordsOfYAML11AreTexts() throws {
        let yaml = "admin_groups: [yes, no, on, off, 2001-01-01, 'true', \"5\", !!str 7]"
        let configuration = try loader.parse(yaml: yaml, file: "c.yaml").configuration
        #expect(configuration.adminGroups == ["yes", "no", "on", "off", "2001-01-01", "true", "5", "7"])
    }

    @Test(
        "Paths become absolute",
        arguments: [
            ("/usr/share/games", "/usr/share/games"), ("~/cookies", "/home/chuck/cookies"), ("\"~\"", "/home/chuck"),
            ("cookies", "/etc/norrisd/cookies"), ("./cookies", "/etc/norrisd/cookies"),
            ("../cookies", "/etc/norrisd/../cookies"),
        ]
    )
    func pathsBecomeAbsolute(written: String, expected: String) throws {
        let yaml = "facts: {fortunes: [\(written)]}\ngifs: {api_key_file: \(written)}\n"
        let configuration = try loader.parse(yaml: yaml, file: "/etc/norrisd/config.yaml").configuration
        #expect(configuration.facts.fortunes == [expected])
        #expect(configuration.gifs.apiKeyFile == expected)
    }

    @Test func relativeFileIsRelativeToTheWorkingDirectory() throws {
        let yaml = "facts: {fortunes: [cookies]}"
        #expect(try loader.parse(yaml: yaml, file: "c.yaml").configuration.facts.fortunes == ["/srv/cookies"])
        #expect(try loader.parse(yaml: yaml, file: "conf/c.yaml").configuration.facts.fortunes == ["/srv/conf/cookies"])
        #expect(try loader.parse(yaml: yaml, file: "/c.yaml").configuration.facts.fortunes == ["/cookies"])
    }

    @Test(
        "Durations are one whole number and one unit",
        arguments: [("1s", 1), ("15m", 900), ("6h", 21_600), ("7d", 604_800)]
    )
    func durationsAreRead(text: String, seconds: Int64) throws {
        let configuration = try loader.parse(yaml: "gifs: {keep: \(text)}", file: "c.yaml").configuration
        #expect(configuration.gifs.keep == .seconds(seconds))
    }

    @Test("Sizes have binary units", arguments: [("1024B", 1024), ("64KiB", 65_536), ("16MiB", 16_777_216)])
    func sizesAreRead(text: String, bytes: Int) throws {
        let configuration = try loader.parse(yaml: "http: {max_body: \(text)}", file: "c.yaml").configuration
        #expect(configuration.http.maxBody == bytes)
    }

    @Test func frequentRefreshIsAWarning() throws {
        let yaml = """
            facts: {refresh: 299s}
            gifs: {refresh: 5m}
            posts:
              refresh: 1s
              sources:
                planet: {kind: feed, url: https://planet.example/}
                town: {kind: mastodon, url: https://town.example/, refresh: 4m}
            """
        let loaded = try loader.parse(yaml: yaml, file: "c.yaml")
        #expect(loaded.configuration.posts.sources.map(\.refresh) == [.seconds(1), .seconds(240)])
        #expect(
            loaded.warnings.map(\.description) == [
                "c.yaml:1: facts.refresh: 299s asks the upstream very often; 5m or more is kinder to it",
                "c.yaml:4: posts.refresh: 1s asks the upstream very often; 5m or more is kinder to it",
                "c.yaml:7: posts.sources.town.refresh: 4m asks the upstream very often; 5m or more is kinder to it",
            ]
        )
    }

    @Test func aKeyOverPlainHTTPIsAWarning() throws {
        func warnings(_ url: String) throws -> [String] {
            try loader.parse(yaml: "gifs: {base_url: '\(url)'}", file: "c.yaml").warnings.map(\.description)
        }
        #expect(
            try warnings("http://gifs.example") == [
                "c.yaml:1: gifs.base_url: sends the API key unencrypted; write https:// if the host supports it"
            ]
        )
        for url in ["https://gifs.example", "http://127.0.0.1:8080", "http://[fd00::1]", "http://localhost"] {
            #expect(try warnings(url).isEmpty)
        }
    }

    @Test("What is valid but will not work here is a warning, if one looks around")
    func missingGroupsAndFilesAreWarnings() throws {
        let folder = TemporaryFolder()
        let key = try folder.write("one two", to: "key")
        let yaml = """
            admin_groups: [root, "no such group"]
            facts:
              fortunes: [\(folder.path), \(folder.path)/none, "/dev/null/none"]
            gifs: {api_key_file: \(folder.path)/none}
            """
        func warnings(_ yaml: String, checksSystem: Bool = true) throws -> [String] {
            try ConfigurationLoader(home: nil, currentDirectory: "/", checksSystem: checksSystem)
                .parse(yaml: yaml, file: "c.yaml").warnings.map(\.description)
        }
        #expect(
            try warnings(yaml) == [
                #"c.yaml:1: admin_groups[1]: there is no group "no such group" here; create it or remove the name"#,
                "c.yaml:3: facts.fortunes[1]: there is no file or folder \(folder.path)/none; "
                    + "install what brings it, or correct the path",
                "c.yaml:3: facts.fortunes[2]: there is no file or folder /dev/null/none; "
                    + "install what brings it, or correct the path",
                "c.yaml:4: gifs.api_key_file: There is no file \(folder.path)/none, "
                    + "which is to hold Giphy's key (gifs.api_key_file)",
            ]
        )
        #expect(try warnings("gifs: {api_key_file: \(key)}").count == 1)
        #expect(try warnings(yaml, checksSystem: false).isEmpty)
    }

    @Test func proxyMayHaveUserAndPassword() throws {
        let yaml = "http: {proxy: 'HTTP://chuck:round%20house%3A@[::1]:3128/'}"
        let configuration = try loader.parse(yaml: yaml, file: "c.yaml").configuration
        let proxy = try #require(configuration.http.proxy)
        #expect(proxy.host == "::1")
        #expect(proxy.port == 3128)
        #expect(proxy.user == "chuck")
        #expect(proxy.password == "round house:")
        #expect(configuration.yaml.contains("\n  proxy: \"http://chuck:***@[::1]:3128\"\n"))
    }
}
