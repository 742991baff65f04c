import Glibc
import NorrisFetchProtocol
import NorrisProtocol
import NorrisServer
import NorrisTestSupport
import NorrisThreads
import Testing

@testable import NorrisDaemon

/// The loader of a daemon that user chuck started in /srv.
private let loader = ConfigurationLoader(home: "/home/chuck", currentDirectory: "/srv")

struct ConfigurationTests {
    @Test("Every key can be set") func everyKeyIsRead() throws {
        let yaml = """
            log:
              level: trace
            admin_groups: [wheel, "100"]
            limits:
              connections: 10
              connections_per_user: 2
            http:
              timeout: 1m
              max_body: 64KiB
              user_agent: me/2
              proxy: http://proxy.example:80
              host_gap: 0s
            facts:
              enabled: false
              base_url: http://localhost:8080/chuck
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
                planet: {kind: feed, url: "https://planet.example/rss?n=1", enabled: true, refresh: 6h, keep: 2d}
                town: {kind: mastodon, url: https://mastodon.example, enabled: false, refresh: 1h, keep: 30d}
                team_2-x: {kind: users-posts, url: https://intranet.example/api, enabled: true, refresh: 1h, keep: 2d}
                long: {kind: feed, url: https://long.example/rss, enabled: true, refresh: 1h, keep: 2d, \
            title: A title, tags: [linux, a.b], unread: 0, article: true, user_agent: own/1, headers_file: /etc/headers}

            """
        let loaded = try loader.parse(yaml: yaml, file: "/etc/norrisd/config.yaml")
        #expect(loaded.configuration.yaml == yaml)
        #expect(loaded.warnings.isEmpty)
        // Every value differs from its default.
        let values = yaml.split(separator: "\n").filter { !$0.hasSuffix(":") }
        #expect(Set(values).isDisjoint(with: Configuration().yaml.split(separator: "\n")))
    }

    @Test(
        "Nothing in a file means the defaults",
        arguments: [
            "", "---\n", "\u{FEFF}# a byte order mark\n", "facts:\n  # refresh: 1h\ngifs:\n",
            "posts:\n  sources:\n    # planet: {}\n", "http: {proxy: }\ngifs: {api_key_file: null}\n",
        ]
    )
    func nothingIsTheDefaults(yaml: String) throws {
        #expect(try loader.parse(yaml: yaml, file: "c.yaml").configuration == Configuration())
    }

    @Test func wordsAndNumbersAreTextsWithAndWithoutQuotes() throws {
        let yaml = "admin_groups: [yes, no, on, off, 2001-01-01, true, 'true', 5, \"5\"]"
        let configuration = try loader.parse(yaml: yaml, file: "c.yaml").configuration
        #expect(configuration.adminGroups == ["yes", "no", "on", "off", "2001-01-01", "true", "true", "5", "5"])
    }

    @Test(
        "Paths become absolute",
        arguments: [
            ("/usr/share/games", "/usr/share/games"), ("~/cookies", "/home/chuck/cookies"), ("\"~\"", "/home/chuck"),
            ("./cookies", "/etc/norrisd/cookies"), ("../cookies", "/etc/norrisd/../cookies"),
        ]
    )
    func pathsBecomeAbsolute(written: String, expected: String) throws {
        let yaml = "facts: {fortunes: [\(written)]}\ngifs: {api_key_file: \(written)}\n"
        let configuration = try loader.parse(yaml: yaml, file: "/etc/norrisd/config.yaml").configuration
        #expect(configuration.facts.fortunes == [expected])
        #expect(configuration.gifs.apiKeyFile == expected)
    }

    @Test func whatIsValidAndWillNotWorkHereIsAWarning() throws {
        let folder = TemporaryFolder()
        let file = try folder.write("", to: "file")
        let yaml = """
            admin_groups: [root, "no such group"]
            facts:
              refresh: 299s
              fortunes: [\(folder.path), \(folder.path)/none]
            gifs:
              refresh: 5m
              base_url: http://gifs.example
              api_key_file: \(folder.path)/none
            posts:
              sources:
                town: {kind: mastodon, url: https://town.example/, refresh: 4m}
                none: {kind: exec, command: [\(folder.path)/none]}
                folder: {kind: exec, command: [\(folder.path)]}
                file: {kind: exec, command: [\(file)]}
                shell: {kind: exec, command: [/bin/sh]}
            """
        func warnings(_ yaml: String, checksSystem: Bool = true) throws -> Set<String> {
            let loader = ConfigurationLoader(home: nil, currentDirectory: "/", checksSystem: checksSystem)
            return Set(try loader.parse(yaml: yaml, file: "c").warnings.map(\.description))
        }
        let always: Set = [
            "c:3: facts.refresh: 299s is a very short interval; use 5m or more to spare the upstream",
            "c:7: gifs.base_url: sends the API key unencrypted; write https:// if the host supports it",
            "c:11: posts.sources.town.refresh: 4m is a very short interval; use 5m or more to spare the upstream",
        ]
        func program(_ line: Int, _ name: String, _ path: String) -> String {
            "c:\(line): posts.sources.\(name): \(path) is no program that may be executed here; "
                + "install it, or correct its path"
        }
        let here: Set = [
            #"c:1: admin_groups[1]: there is no group "no such group" here; create it or remove the name"#,
            "c:4: facts.fortunes[1]: there is no file or folder \(folder.path)/none; "
                + "install its package, or correct the path",
            "c:8: gifs.api_key_file: The key file \(folder.path)/none does not exist (gifs.api_key_file)",
            program(12, "none", "\(folder.path)/none"), program(13, "folder", folder.path), program(14, "file", file),
        ]
        #expect(try warnings(yaml) == always.union(here))
        #expect(try warnings(yaml, checksSystem: false) == always)
        let key = try folder.write("0123456789abcdef", to: "key")
        for (mode, isReadByAll) in [(0o604, true), (0o640, false), (0o600, false)] as [(mode_t, Bool)] {
            chmod(key, mode)
            let warning = "c:1: gifs.api_key_file: every user can read the key file; run: chmod o-r \(key)"
            #expect(try warnings("gifs: {api_key_file: \(key)}") == (isReadByAll ? [warning] : []))
        }
        // The unit of the system hides home directories.
        let home = "facts: {fortunes: [/home]}\nposts: {sources: {x: {kind: exec, command: [/home/../bin/true]}}}"
        #expect(try warnings(home) == [])
        var system = ConfigurationLoader(home: nil, currentDirectory: "/", checksSystem: true)
        let hidden = try system.parse(Array(home.utf8), file: "/etc/norrisd/config.yaml").warnings
        #expect(hidden.map(\.key) == ["facts.fortunes[0]", "posts.sources.x"])
        #expect(hidden.allSatisfy { $0.message.contains("ProtectHome=") }, "\(hidden)")
        system.checksSystem = false
        #expect(try system.parse(Array(home.utf8), file: "/etc/norrisd/config.yaml").warnings == [])
        for url in ["http://127.0.0.1:8080", "http://[fd00::1]", "http://localhost"] {
            #expect(try warnings("gifs: {base_url: '\(url)'}").isEmpty)
        }
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

struct AdministratorTests {
    private func settings(_ configuration: Configuration, _ log: LogRecorder) async -> Settings {
        await BackgroundThreads.background.run { access in
            Settings(ConfigurationLoader.Loaded(configuration: configuration), logger: log.logger, access)
        }
    }

    @Test func membersOfTheGroupsOfTheDefaultAreAdministratorsAndMissingOnesAreNoWarning() async throws {
        let log = LogRecorder()
        let settings = await settings(Configuration(), log)
        #expect(log.lines.isEmpty)
        // Debian has a group sudo, Fedora a group wheel.
        let group = try #require(Settings.groupID("sudo") ?? Settings.groupID("wheel"))
        #expect(settings.isAdministrator(Peer(uid: 4_321, gid: 4_321, groups: [group])))
        #expect(!settings.isAdministrator(Peer(uid: 4_321, gid: 4_321, groups: [4_321])))
    }

    @Test func aConfiguredGroupThatIsMissingIsAWarning() async {
        let log = LogRecorder()
        var configuration = Configuration()
        configuration.adminGroups = ["root", "no such group"]
        let settings = await settings(configuration, log)
        #expect(log.lines == ["warning configuration.unknown-group"])
        #expect(settings.isAdministrator(Peer(uid: 4_321, gid: 0, groups: [])))
    }
}

struct ConfigurationPrintTests {
    @Test func defaultsArePrinted() {
        #expect(
            Configuration().yaml == """
                log:
                  level: info
                admin_groups: [sudo, wheel]
                limits:
                  connections: 4096
                  connections_per_user: 256
                http:
                  timeout: 10s
                  max_body: 16MiB
                  user_agent: norrisd/\(NorrisVersion.current)
                  proxy: null
                  host_gap: 2s
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

                """)
    }

    @Test("Printed output reads as the same configuration, with odd texts as well") func everythingComesBack() throws {
        let yaml = #"""
            admin_groups: ["yes", "5", "~", "- a", "a: b", "a #b", "x:", "[x]", "{", "&a", "*a", "!a", "%a", "@a", \#
            "'", "\"", "\\",
              " pad ", "ünï", "\u202E", "\U0001F94B", "null", "1:30", "2001-01-01", "a,b", "=", "<<", "y", "0x1", \#
            ".5", "?"]
            http: {timeout: 61s, max_body: 1025B, user_agent: "a\\b \"c\" #", \#
            proxy: "http://chuck@proxy.example:3128", host_gap: 0s}
            facts: {enabled: false, base_url: "http://[::1]:8080/x", refresh: 25h, queries: [], fortunes: [~/a b, \#
            "/c: d"], mix_fortunes: true}
            gifs: {enabled: false, api_key_file: key, rating: pg-13, refresh: 48h, queries: ["a:b"], keep: 3600s, \#
            hourly_quota: 1}
            posts:
              refresh: 7m
              keep: 1d
              sources:
                "null": {kind: feed, url: "https://a.example/?x=[1],(2)&y=*", refresh: 8m}
                "12": {kind: users-posts, url: "https://b.example/api", enabled: false, keep: 2d}
            """#
        let configuration = try loader.parse(yaml: yaml, file: "c.yaml").configuration
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
}
