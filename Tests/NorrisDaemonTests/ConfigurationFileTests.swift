import Foundation
import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

private let loader = ConfigurationLoader(home: nil, currentDirectory: "/")

/// Returns the faults of a file that the user has named.
private func fault(_ path: String) -> String {
    do {
        _ = try loader.load(.init(path: path, isNamed: true))
        return "none"
    } catch {
        return error.description
    }
}

struct ConfigurationFileTests {
    @Test func missingFileIsAFaultOnlyIfNamed() throws {
        let path = TemporaryFolder().path + "/nowhere/config.yaml"
        #expect(fault(path) == "\(path): does not exist; create it, or name another file")
        let defaults = ConfigurationLoader.Loaded(configuration: Configuration())
        #expect(try loader.load(.init(path: path, isNamed: false)) == defaults)
        #expect(try loader.load(.init(path: "/dev/null/config.yaml", isNamed: false)) == defaults)
        #expect(try loader.load(nil) == defaults)
    }

    @Test("Only a regular file is accepted, named or not, and a pipe does not block the loader")
    func noFiles() throws {
        let folder = TemporaryFolder()
        #expect(fault(folder.path) == "\(folder.path): is a directory; name the file in it")
        let pipe = folder("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        #expect(
            fault(pipe) == "\(pipe): is not a regular file; name one, because norrisd reads it again at every reload")
        let loop = folder("loop")
        try #require(symlink(loop, loop) == 0)
        #expect(fault(loop) == "\(loop): cannot be read: Too many levels of symbolic links")
        #expect(throws: ConfigurationError.self) { try loader.load(.init(path: loop, isNamed: false)) }
    }

    @Test("A file may have at most 1 MiB") func size() throws {
        let folder = TemporaryFolder()
        let text = String(repeating: "#", count: 1 << 20)
        #expect(fault(try folder.write(text, to: "large.yaml")) == "none")
        let file = try folder.write(text + "#", to: "large.yaml")
        #expect(fault(file) == "\(file): is larger than 1 MiB, which no configuration is; check the path")
        #expect(fault("/dev/zero") == "/dev/zero: is larger than 1 MiB, which no configuration is; check the path")
    }

    @Test("Invalid UTF-8 is refused with its line") func notUTF8() throws {
        let folder = TemporaryFolder()
        let file = folder("config.yaml")
        try Data(Array("log: {}\n# é\n".utf8) + [0xE9, 0x0A]).write(to: URL(filePath: file))
        #expect(
            fault(file) == "\(file):3: is not YAML here: incomplete UTF-8 octet sequence; "
                + "save the file as UTF-8 without control characters")
    }
}

/// Returns the paths for an environment and an account whose home is /home/account.
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
    private static let account = [
        "/home/account/.config/norrisd/config.yaml", "/home/account/.cache/norrisd",
        "/home/account/.local/state/norrisd",
    ]

    @Test(
        "The flags, then systemd's variables, of a list the first, then XDG's, then the home; none empty or relative",
        arguments: [
            (["HOME": "/h"], ["/h/.config/norrisd/config.yaml", "/h/.cache/norrisd", "/h/.local/state/norrisd"]),
            (
                user,
                ["/x/config/norrisd/config.yaml", "/x/cache/norrisd", "/x/state/norrisd", "/run/user/1000/norrisd"]
            ), (service, ["/etc/norrisd/config.yaml", "/var/cache/norrisd", "/var/lib/norrisd", "/run/norrisd"]),
            ([:], account), (service.mapValues { _ in "" }, account),
            (user.mapValues { String($0.dropFirst()) }, account),
        ] as [([String: String], [String])]
    )
    func variables(_ environment: [String: String], _ expected: [String]) throws {
        func list(_ paths: Paths) -> [String?] {
            [paths.configurationFile?.path, paths.cacheDirectory, paths.stateDirectory, paths.runtimeDirectory]
        }
        let found = try paths(environment)
        #expect(list(found).compactMap(\.self) == expected)
        #expect(found.configurationFile?.isNamed == false)
        let named = try paths(environment.merging(["NORRISD_CONFIG": "mine.yaml"]) { $1 })
        #expect(named.configurationFile == .init(path: "mine.yaml", isNamed: true))
        let flags = Paths.Flags(config: "/f.yaml", cacheDirectory: "c", stateDirectory: "/s:1", runtimeDirectory: "/r")
        #expect(list(try paths(environment, flags)) == ["/f.yaml", "c", "/s:1", "/r"])
    }

    @Test("Without any home, what needs one is an error that names the flag") func noHome() throws {
        let cache = #expect(throws: ExplainedError.self) {
            try Paths(flags: .init(), environment: [:], accountHome: nil)
        }
        #expect(
            cache?.description
                == "there is no home directory to keep files in; give --cache-dir, or set $HOME or $XDG_CACHE_HOME")
        let found = try Paths(
            flags: .init(), environment: ["CACHE_DIRECTORY": "/c", "XDG_STATE_HOME": "/s"], accountHome: nil)
        #expect(found.configurationFile == nil)
        #expect(found.stateDirectory == "/s/norrisd")
        let empty = #expect(throws: ExplainedError.self) { try paths(Self.user, .init(stateDirectory: "")) }
        #expect(empty?.description == "--state-dir needs a path; write one or leave the flag out")
    }
}
