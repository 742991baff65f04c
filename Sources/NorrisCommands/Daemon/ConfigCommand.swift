import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl config`: where the daemon's configuration is, whether it is valid, and how to change it.
struct ConfigCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "config", abstract: "Show, check or edit norrisd's configuration.",
        discussion: """
            Examples:
              norrisctl config path
              norrisctl config check
              sudo norrisctl config edit
            """,
        subcommands: [ConfigPathCommand.self, ConfigCheckCommand.self, ConfigEditCommand.self]
    )

    static var statuses: [ExitStatus] { [.done, .usage] }

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        throw Failure(.usage, "config needs a command: path, check or edit.", hint: "See 'norrisctl config --help'.")
    }
}

/// `norrisctl config path`: the configuration file of the daemon.
struct ConfigPathCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "path", of: "config", abstract: "Print the path of the configuration file.",
        discussion: """
            norrisd itself says which file it reads. If it is not running, this is the file it would read by default:
            yours if it exists, else the system's. The file need not exist: every setting has a default.

            Examples:
              norrisctl config path
              less "$(norrisctl config path)"
            """
    )

    static var statuses: [ExitStatus] { [.done, .usage, .configuration] }

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        let path = try session.configurationFile.path
        return session.report(["path": .string(path)] as JSON) { $0.line(path) }
    }
}

/// `norrisctl config check`: what `norrisd --check-config` says of the file.
struct ConfigCheckCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "check", of: "config", abstract: "Check the configuration file.",
        discussion: """
            Runs norrisd --check-config, which prints ok, or each fault with its line and what to write instead.

            Examples:
              norrisctl config check
              norrisctl config check && norrisctl reload
            """
    )

    static var statuses: [ExitStatus] { [.done, .usage, .unavailable, .configuration] }

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        let path = try session.configurationFile.path
        guard session.system.exists(path) else {
            return session.report(["path": .string(path)] as JSON) {
                $0.line("ok: there is no \(path), so the defaults apply")
            }
        }
        let status = try session.checkConfiguration(path, .terminal(reset: []))
        return Report(status: ExitStatus(rawValue: status) ?? .internalError)
    }
}

/// `norrisctl config edit`: a copy of the file in the user's editor, which replaces the file once it has no faults.
struct ConfigEditCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "edit", of: "config", abstract: "Edit the configuration file.",
        discussion: """
            Opens a copy in $VISUAL or $EDITOR, else in editor, vi or nano. The copy is checked, and replaces the file
            only if it has no faults. norrisctl reload then applies it.

            Examples:
              norrisctl config edit
              sudo norrisctl config edit
              EDITOR=nano norrisctl config edit
            """
    )

    static var statuses: [ExitStatus] {
        [.done, .usage, .unavailable, .inputOutput, .temporary, .notPermitted, .configuration]
    }

    /// The largest file that norrisd reads, in bytes.
    private static let longestFile = 1 << 20

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        let (path, isRunning) = try session.configurationFile
        let socket = optionWords(("--socket", session.settings.socket))
        guard session.system.mayReplace(path) else {
            let command = shellCommand(["sudo", "norrisctl", "config", "edit"] + socket) ?? "sudo norrisctl config edit"
            throw Failure(.notPermitted, "You may not change \(path).", hint: "Run: \(command: command)")
        }
        let old = try contents(of: path, session)
        // In the same folder, to which relative paths in the file refer; with its ending, which editors go by.
        let copy = path.hasSuffix(".yaml") ? "\(path.dropLast(5)).edit.yaml" : "\(path).edit"
        var start: [UInt8]?
        if !session.system.exists(copy) {
            let text = old ?? Array("# man norrisd.conf lists the settings; each has a default.\n".utf8)
            try writing(copy) { () throws(SystemError) in try session.system.createFile(copy, text) }
            start = text
        } else {
            session.writeError("norrisctl: Going on with the changes that were left in \(copy).")
        }
        defer {
            // What was only looked at, or could not be opened, leaves nothing behind.
            if let start, (try? contents(of: copy, session)) == start { session.system.removeFile(copy) }
        }
        guard let new = try editedUntilValid(copy, session) else {
            throw Failure(
                .configuration, "The configuration has faults, so \(path) was not changed.",
                hint: "Your changes are in \(copy). Go on with: \(command: "norrisctl config edit")"
            )
        }
        guard new != start else {
            return session.report(["path": .string(path), "changed": false] as JSON) { $0.line("unchanged: \(path)") }
        }
        guard try contents(of: path, session) == old else {
            throw Failure(
                .temporary, "\(path) was changed by somebody else meanwhile; it was left as it is.",
                hint: "Your changes are in \(copy)."
            )
        }
        try writing(path) { () throws(SystemError) in try session.system.writeFile(path, new) }
        session.system.removeFile(copy)
        var report = session.report(["path": .string(path), "changed": true] as JSON) { $0.line("saved: \(path)") }
        if isRunning, !session.settings.json, let reload = shellCommand(["norrisctl", "reload"] + socket) {
            report.remark("Apply it: \(reload)")
        }
        return report
    }

    /// nil where there is no such file.
    private func contents(of path: String, _ session: Session) throws(Failure) -> [UInt8]? {
        do {
            return try session.system.readFile(path, Self.longestFile)
        } catch {
            guard error.errno != 2 else { return nil }
            throw Failure(.inputOutput, "\(path) cannot be read: \(error.reason).")
        }
    }

    private func writing(_ path: String, _ write: () throws(SystemError) -> Void) throws(Failure) {
        do {
            try write()
        } catch {
            throw Failure(.inputOutput, "\(path) cannot be written: \(error.reason).")
        }
    }

    /// Lets the user edit the copy, again and again where it has faults and somebody is there to be asked.
    ///
    /// - Returns: what it holds; nil where it has faults.
    private func editedUntilValid(_ copy: String, _ session: Session) throws(Failure) -> [UInt8]? {
        while true {
            try session.edit(copy)
            if try session.checkConfiguration(copy, .discarded) == 0 {
                // A copy that the editor has removed leaves nothing to put in place.
                guard let new = try contents(of: copy, session) else {
                    throw Failure(.inputOutput, "\(copy) is gone, so nothing was changed.")
                }
                return new
            }
            guard session.system.isInputTerminal, session.system.isErrorTerminal else { return nil }
            session.writeError("Edit it again? [Y/n]")
            guard let answer = session.system.readAnswer(), !["n", "N", "no"].contains(answer) else { return nil }
        }
    }
}

extension System {
    fileprivate func exists(_ path: String) -> Bool {
        do {
            _ = try fileStatus(path)
            return true
        } catch {
            return error.errno != 2
        }
    }
}

extension Session {
    /// The file that the daemon reads, as it says; else the one that it would read if this user or the system started
    /// it, and whether it runs.
    fileprivate var configurationFile: (path: String, isRunning: Bool) {
        get throws(Failure) {
            let info: Reply<ServerInfo.Result>? = try? call(ServerInfo.self)
            if let path = info?.value.configPath { return (path, true) }
            if let path = system.environment.value(of: "NORRISD_CONFIG") { return (path, info != nil) }
            let home = system.environment.value(of: "HOME").map { "\($0)/.config" }
            let folder = system.environment.value(of: "XDG_CONFIG_HOME") ?? home
            let own = folder.map { "\($0)/norrisd/config.yaml" }
            let paths = [own, "/etc/norrisd/config.yaml"].compactMap { $0 }
            guard let path = paths.first(where: system.exists) ?? own else {
                throw Failure(.configuration, "There is no home directory for a configuration file.", hint: "Set HOME.")
            }
            return (path, info != nil)
        }
    }

    /// Runs `norrisd --check-config`, which writes the faults to standard error itself.
    ///
    /// - Parameter output: what becomes of its `ok`.
    /// - Returns: its exit status.
    fileprivate func checkConfiguration(
        _ path: String, _ output: SubprocessRequest.Output
    ) throws(Failure) -> Int32 {
        // Both are installed together; what is beside norrisctl is of its version.
        for program in system.ownFolders().map({ "\($0)/norrisd" }) + ["norrisd"] {
            let outcome = system.run(SubprocessRequest(
                program: program, arguments: ["--check-config", "--config", path], output: output,
                inheritsErrors: true
            ))
            switch outcome {
            case .missing: continue
            case .ended(let status, _): return status
            default: throw .unfinished("norrisd", outcome)
            }
        }
        throw Failure(.unavailable, "norrisd is not installed here, so \(path) cannot be checked.")
    }

    /// Runs the user's editor. As with git(1), the variable may hold arguments, so it goes through a shell; the path
    /// does not.
    fileprivate func edit(_ path: String) throws(Failure) {
        let chosen = ["VISUAL", "EDITOR"].lazy.compactMap { system.environment.value(of: $0) }.first
        for editor in chosen.map({ [$0] }) ?? ["editor", "vi", "nano"] {
            let outcome = system.run(SubprocessRequest(
                program: "/bin/sh", arguments: ["-c", "trap : INT QUIT; \(editor) \"$1\"", editor, path], input: .inherited,
                output: .terminal(reset: []), inheritsErrors: chosen != nil, keepsKeys: true
            ))
            switch outcome {
            case .ended(status: 0, _): return
            // What a shell says of a program that is not there.
            case .ended(status: 127, _) where chosen == nil: continue
            case .ended(let status, _):
                let reason = status == 127 ? "was not found" : "failed with status \(status)"
                throw Failure(
                    .unavailable, "The editor '\(editor)' \(reason), so nothing was changed.",
                    hint: "Name another one: \(command: "EDITOR=nano norrisctl config edit")"
                )
            default: throw .unfinished(editor, outcome)
            }
        }
        throw Failure(
            .unavailable, "No editor was found.", hint: "Name one: \(command: "EDITOR=nano norrisctl config edit")"
        )
    }
}
