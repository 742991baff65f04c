@testable import NorrisDaemon
import NorrisProtocol
import Testing

/// The paths for an environment, with an account whose home is /home/account.
private func paths(_ environment: [String: String], _ flags: Paths.Flags = .init()) throws -> Paths {
    try Paths(flags: flags, environment: Environment(environment), accountHome: "/home/account")
}

struct ConfigurationPathsTests {
    private static let user = [
        "HOME": "/home/chuck", "XDG_CONFIG_HOME": "/x/config", "XDG_CACHE_HOME": "/x/cache",
        "XDG_STATE_HOME": "/x/state/", "XDG_RUNTIME_DIR": "/run/user/1000",
    ]
    private static let service = user.merging([
        "CONFIGURATION_DIRECTORY": "/etc/norrisd", "CACHE_DIRECTORY": "/var/cache/norrisd",
        "STATE_DIRECTORY": "/var/lib/norrisd:/var/lib/other", "RUNTIME_DIRECTORY": "/run/norrisd",
    ]) { $1 }

    @Test func homeHasTheDefaults() throws {
        let found = try paths(["HOME": "/home/chuck"])
        #expect(found.home == "/home/chuck")
        #expect(found.configurationFile == .init(path: "/home/chuck/.config/norrisd/config.yaml", isNamed: false))
        #expect(found.cacheDirectory == "/home/chuck/.cache/norrisd")
        #expect(found.stateDirectory == "/home/chuck/.local/state/norrisd")
        #expect(found.runtimeDirectory == nil)
    }

    @Test func variablesOfXDGComeBeforeHome() throws {
        let found = try paths(Self.user)
        #expect(found.configurationFile == .init(path: "/x/config/norrisd/config.yaml", isNamed: false))
        #expect(found.cacheDirectory == "/x/cache/norrisd")
        #expect(found.stateDirectory == "/x/state/norrisd")
        #expect(found.runtimeDirectory == "/run/user/1000/norrisd")
    }

    @Test("Variables of systemd come before XDG's, and of a list the first counts")
    func variablesOfSystemd() throws {
        let found = try paths(Self.service)
        #expect(found.configurationFile == .init(path: "/etc/norrisd/config.yaml", isNamed: false))
        #expect(found.cacheDirectory == "/var/cache/norrisd")
        #expect(found.stateDirectory == "/var/lib/norrisd")
        #expect(found.runtimeDirectory == "/run/norrisd")
    }

    @Test func namedFileComesBeforeTheFolders() throws {
        let environment = Self.service.merging(["NORRISD_CONFIG": "mine.yaml"]) { $1 }
        #expect(try paths(environment).configurationFile == .init(path: "mine.yaml", isNamed: true))
    }

    @Test func flagsComeFirst() throws {
        let environment = Self.service.merging(["NORRISD_CONFIG": "/mine.yaml"]) { $1 }
        let flags = Paths.Flags(
            config: "/flag.yaml", cacheDirectory: "cache", stateDirectory: "/state:1", runtimeDirectory: "/run/flag"
        )
        let found = try paths(environment, flags)
        #expect(found.configurationFile == .init(path: "/flag.yaml", isNamed: true))
        #expect(found.cacheDirectory == "cache")
        #expect(found.stateDirectory == "/state:1")
        #expect(found.runtimeDirectory == "/run/flag")
    }

    @Test("Empty variables count as unset")
    func emptyVariables() throws {
        let names = Array(Self.service.keys) + ["NORRISD_CONFIG"]
        let found = try paths(Dictionary(uniqueKeysWithValues: names.map { ($0, "") }))
        #expect(found == (try paths([:])))
        #expect(found.home == "/home/account")
        #expect(found.stateDirectory == "/home/account/.local/state/norrisd")
    }

    @Test("Relative values of XDG's variables and of HOME are ignored")
    func relativeVariables() throws {
        let environment = Self.user.mapValues { String($0.dropFirst()) }
        #expect(try paths(environment) == (try paths([:])))
    }

    @Test("Without any home, what needs one is an error that names the flag")
    func noHome() throws {
        let cache = #expect(throws: PathsError.self) { try Paths(flags: .init(), environment: [:], accountHome: nil) }
        #expect(
            cache?.description
                == "there is no home directory to keep files in; give --cache-dir, or set $HOME or $XDG_CACHE_HOME"
        )
        let state = #expect(throws: PathsError.self) {
            try Paths(flags: .init(cacheDirectory: "/c"), environment: [:], accountHome: nil)
        }
        #expect(
            state?.description
                == "there is no home directory to keep files in; give --state-dir, or set $HOME or $XDG_STATE_HOME"
        )
        let found = try Paths(
            flags: .init(), environment: ["CACHE_DIRECTORY": "/c", "XDG_STATE_HOME": "/s"], accountHome: nil
        )
        #expect(found.configurationFile == nil)
        #expect(found.home == nil)
        #expect(found.stateDirectory == "/s/norrisd")
    }

    @Test func emptyFlagIsAnError() {
        let error = #expect(throws: PathsError.self) { try paths(Self.user, .init(stateDirectory: "")) }
        #expect(error?.description == "--state-dir needs a path; write one or leave the flag out")
    }

    @Test func processKnowsItsFolders() throws {
        #expect(CurrentProcess.currentDirectory.hasPrefix("/"))
        let home = try #require(CurrentProcess.accountHome)
        #expect(home.hasPrefix("/"))
    }
}
