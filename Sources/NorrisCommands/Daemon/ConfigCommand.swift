import NorrisArguments
import NorrisClient
import NorrisProtocol
import NorrisSystem
import NorrisTerminal

struct ConfigCommand: SessionCommand {
    static let name = "config"
    static let help = CommandHelp(
        "Show the path of norrisd's configuration, or check it.",
        """
        Examples:
          norrisctl config path
          norrisctl config check
          sudoedit "$(norrisctl config path)" && norrisctl config check && sudo norrisctl reload
        """)

    static var groups: [(title: String, commands: [any SessionCommand.Type])] {
        [("COMMANDS", [ConfigPathCommand.self, ConfigCheckCommand.self])]
    }

    func run(in session: Session) throws(Failure) -> Report {
        let names = alternatives(Self.commands.map { $0.name })
        throw Failure(.usage, "config needs a command: \(names).", hint: "See 'norrisctl config --help'.")
    }
}

struct ConfigPathCommand: SessionCommand {
    static let name = "path"
    static let help = CommandHelp(
        "Print the path of the configuration file.",
        """
        norrisd itself says which file it reads. If it does not answer, and --socket is not given, this is the
        file it would read by default: yours if it exists, else the system's. The file need not exist: every
        setting has a default.

        Examples:
          norrisctl config path
          less "$(norrisctl config path)"
        """)

    func run(in session: Session) throws(Failure) -> Report {
        let path = try session.configurationFile
        return session.report(EncodedJSON(["path": .string(path)] as JSON)) { $0.line(path) }
    }
}

struct ConfigCheckCommand: SessionCommand {
    static let name = "check"
    static let help = CommandHelp(
        "Check the configuration file.",
        """
        Runs norrisd --check-config, which prints ok, or each fault with its line and what to write instead. It also
        warns of what is valid and will not work here, such as a missing program.

        Examples:
          norrisctl config check
          norrisctl config check && norrisctl reload
        """)

    func run(in session: Session) throws(Failure) -> Report {
        let path = try session.configurationFile
        guard session.system.exists(path) else {
            return session.report(EncodedJSON(["path": .string(path), "valid": true] as JSON)) {
                $0.line("ok: there is no \(path), so the defaults apply")
            }
        }
        let (status, lines) = try session.checkConfiguration(path)
        for line in lines where line != "ok" { session.writeError(line) }
        return session.report(
            EncodedJSON(["path": .string(path), "valid": .bool(status == .done)] as JSON), status: status
        ) {
            if status == .done { $0.line("ok") }
        }
    }
}

extension Session {
    fileprivate static let systemFile = "/etc/norrisd/config.yaml"

    /// The path of the configuration file. Without an answer of the daemon, the path is the file that norrisd would
    /// read if this user or the system started it.
    fileprivate var configurationFile: String {
        get throws(Failure) {
            var info: Reply<ServerInfo.Result>?
            do throws(Failure) { info = try call(ServerInfo.self) } catch {
                guard settings.socket == nil else { throw error }
                let isNamed = system.environment.value(of: "NORRISD_SOCKET") != nil
                switch error.connection {
                case .noSocket? where !isNamed, .refused? where !isNamed: break
                // Without the daemon's answer, the user must still be able to correct a faulty file.
                default: writeError("norrisctl: \(error.message) Using the default file.")
                }
            }
            if let path = info?.value.configPath { return path }
            if let path = system.environment.value(of: "NORRISD_CONFIG") { return path }
            let home = system.environment.value(of: "HOME").map { "\($0)/.config" }
            let folder = system.environment.value(of: "XDG_CONFIG_HOME") ?? home
            let own = folder.map { "\($0)/norrisd/config.yaml" }
            let paths = [own, Self.systemFile].compactMap { $0 }
            guard let path = paths.first(where: system.exists) ?? own else {
                throw Failure(.configuration, "There is no home directory for a configuration file.", hint: "Set HOME.")
            }
            return path
        }
    }

    /// Runs `norrisd --check-config`. Returns its exit status and its lines: `ok`, faults and warnings.
    func checkConfiguration(_ path: String) throws(Failure) -> (ExitStatus, [String]) {
        // A norrisd in the folder of norrisctl has the same version, because both are installed together.
        let request = SubprocessRequest(
            program: "norrisd", arguments: ["--check-config", "--config", path],
            output: .collected(limit: 1 << 20, withErrors: true))
        let own = system.runOwn(request)
        switch own == .missing ? system.run(request) : own {
        case .missing: throw Failure(.unavailable, "norrisd is not installed here, so \(path) cannot be checked.")
        case .ended(let status, let output):
            let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map { line in
                String(line.hasPrefix("norrisd: ") ? line.dropFirst(9) : line)
            }
            return (ExitStatus(rawValue: status) ?? .internalError, lines)
        case let outcome: throw .unfinished("norrisd", outcome)
        }
    }
}
