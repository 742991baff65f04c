import Glibc

/// Where the daemon's files are, by its flags and its environment.
///
/// Pure: looks at no disk and creates nothing. A flag comes first, then the variable that systemd sets
/// (systemd.exec(5)), then the folder of the XDG Base Directory Specification 0.8. Empty variables count as unset, and
/// relative ones of XDG's are ignored, as that specification asks.
struct Paths: Sendable, Equatable {
    /// The flags that say where something is, as they were given; nil if not.
    struct Flags: Sendable, Equatable {
        var config: String?
        var cacheDirectory: String?
        var stateDirectory: String?
        var runtimeDirectory: String?
    }

    struct ConfigurationFile: Sendable, Equatable {
        var path: String
        /// Whether somebody asked for this very file, so that it must exist.
        var isNamed: Bool
    }

    /// The user's home directory; nil if neither the environment nor the account has one.
    let home: String?
    /// Nil where there is no home directory to look in.
    let configurationFile: ConfigurationFile?
    let cacheDirectory: String
    let stateDirectory: String
    /// Nil if there is no place for it; then nothing that belongs there is written.
    let runtimeDirectory: String?

    /// - Parameter accountHome: the home directory of the password database; asked only if `HOME` is of no use.
    init(
        flags: Flags, environment: [String: String], accountHome: @autoclosure () -> String?
    ) throws(PathsError) {
        let variables = PathVariables(environment)
        let home = variables.absolute("HOME") ?? accountHome()
        self.home = home

        func xdg(_ name: String, _ fallback: String) -> String? {
            (variables.absolute(name) ?? home.map { Self.join($0, fallback) }).map { Self.join($0, "norrisd") }
        }
        if let path = try Self.given("--config", flags.config) ?? variables["NORRISD_CONFIG"] {
            configurationFile = ConfigurationFile(path: path, isNamed: true)
        } else {
            let folder = variables.first("CONFIGURATION_DIRECTORY") ?? xdg("XDG_CONFIG_HOME", ".config")
            configurationFile = folder.map { ConfigurationFile(path: Self.join($0, "config.yaml"), isNamed: false) }
        }
        guard
            let cache = try Self.given("--cache-dir", flags.cacheDirectory)
                ?? variables.first("CACHE_DIRECTORY") ?? xdg("XDG_CACHE_HOME", ".cache")
        else { throw .noPlace(flag: "--cache-dir", variable: "XDG_CACHE_HOME") }
        guard
            let state = try Self.given("--state-dir", flags.stateDirectory)
                ?? variables.first("STATE_DIRECTORY") ?? xdg("XDG_STATE_HOME", ".local/state")
        else { throw .noPlace(flag: "--state-dir", variable: "XDG_STATE_HOME") }
        cacheDirectory = cache
        stateDirectory = state
        runtimeDirectory =
            try Self.given("--runtime-dir", flags.runtimeDirectory) ?? variables.first("RUNTIME_DIRECTORY")
            ?? variables.absolute("XDG_RUNTIME_DIR").map { Self.join($0, "norrisd") }
    }

    private static func given(_ flag: String, _ value: String?) throws(PathsError) -> String? {
        if value == "" { throw .emptyFlag(flag) }
        return value
    }
}

/// Why there is no place for a file.
enum PathsError: Error, Equatable, CustomStringConvertible {
    case emptyFlag(String)
    case noPlace(flag: String, variable: String)

    var description: String {
        switch self {
        case .emptyFlag(let flag):
            "\(flag) needs a path; write one or leave the flag out"
        case .noPlace(let flag, let variable):
            "there is no home directory to keep files in; give \(flag), or set $HOME or $\(variable)"
        }
    }
}

/// The environment, as variables with paths are read from it.
private struct PathVariables {
    private let environment: [String: String]

    init(_ environment: [String: String]) {
        self.environment = environment
    }

    /// Nil if unset or empty.
    subscript(name: String) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Nil also if the path is relative.
    func absolute(_ name: String) -> String? {
        self[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// systemd separates several directories by colons; norrisd uses the first.
    func first(_ name: String) -> String? {
        self[name]?.split(separator: ":").first.map(String.init)
    }
}

extension Paths {
    /// A path below a folder, with one slash between the two.
    static func join(_ folder: String, _ path: String) -> String {
        if path.isEmpty { return folder }
        return folder.hasSuffix("/") ? folder + path : folder + "/" + path
    }

    /// The folder of an absolute path.
    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}
