import Glibc
import NorrisProtocol
import NorrisSystem

/// The paths of the daemon's files, from flags and environment.
///
/// Pure: reads no disk and creates no file. The order is: a flag, the variable that systemd sets (systemd.exec(5)), the
/// folder of the XDG Base Directory Specification 0.8. Empty variables count as unset. Relative XDG variables are
/// ignored, as the specification requires.
struct Paths: Sendable, Equatable {
    /// The flags that name paths, as passed.
    struct Flags: Sendable, Equatable { var config, cacheDirectory, stateDirectory, runtimeDirectory: String? }

    struct ConfigurationFile: Sendable, Equatable {
        var path: String
        /// Whether a flag or variable names the file, which then must exist.
        var isNamed: Bool
    }

    /// The user's home directory; nil if neither the environment nor the account has one.
    let home: String?
    /// nil if there is no home directory.
    let configurationFile: ConfigurationFile?
    let cacheDirectory: String
    let stateDirectory: String
    /// nil if there is no runtime directory; then `prompt-facts` is not written.
    let runtimeDirectory: String?

    /// - Parameter accountHome: the home directory in the password database, used only if `HOME` is not usable.
    init(flags: Flags, environment: Environment, accountHome: @autoclosure () -> String?) throws(ExplainedError) {
        func flag(_ name: String, _ value: String?) throws(ExplainedError) -> String? {
            guard value != "" else {
                throw ExplainedError("\(name) needs a path; write one or leave the flag out", exitStatus: EX_CONFIG)
            }
            return value
        }
        func absolute(_ name: String) -> String? {
            environment.value(of: name).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        /// systemd separates several directories by colons; norrisd uses the first.
        func first(_ name: String) -> String? {
            environment.value(of: name)?.split(separator: ":").first.map(String.init)
        }
        let home = absolute("HOME") ?? accountHome()
        func noHome(_ flag: String, _ variable: String) -> ExplainedError {
            let advice = "give \(flag), or set $HOME or $\(variable)"
            return ExplainedError("there is no home directory to keep files in; \(advice)", exitStatus: EX_CONFIG)
        }
        func xdg(_ name: String, _ fallback: String) -> String? {
            (absolute(name) ?? home.map { Self.join($0, fallback) }).map { Self.join($0, "norrisd") }
        }
        self.home = home
        if let path = try flag("--config", flags.config) ?? environment.value(of: "NORRISD_CONFIG") {
            configurationFile = ConfigurationFile(path: path, isNamed: true)
        } else {
            let folder = first("CONFIGURATION_DIRECTORY") ?? xdg("XDG_CONFIG_HOME", ".config")
            configurationFile = folder.map { ConfigurationFile(path: Self.join($0, "config.yaml"), isNamed: false) }
        }
        guard
            let cache = try flag("--cache-dir", flags.cacheDirectory)
                ?? first("CACHE_DIRECTORY") ?? xdg("XDG_CACHE_HOME", ".cache")
        else { throw noHome("--cache-dir", "XDG_CACHE_HOME") }
        guard
            let state = try flag("--state-dir", flags.stateDirectory)
                ?? first("STATE_DIRECTORY") ?? xdg("XDG_STATE_HOME", ".local/state")
        else { throw noHome("--state-dir", "XDG_STATE_HOME") }
        cacheDirectory = cache
        stateDirectory = state
        runtimeDirectory =
            try flag("--runtime-dir", flags.runtimeDirectory) ?? first("RUNTIME_DIRECTORY")
            ?? absolute("XDG_RUNTIME_DIR").map { Self.join($0, "norrisd") }
    }

    /// A path below a folder, with one slash between them.
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
