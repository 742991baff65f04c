import NorrisArguments
import NorrisClient
import NorrisProtocol
import NorrisSystem
import NorrisTerminal

struct ConfigCommand: CommandGroup {
    static let name = "config"
    static let help = CommandHelp(
        "Show, check or edit norrisd's configuration.",
        """
        Examples:
          norrisctl config path
          norrisctl config check
          sudo norrisctl config edit
        """)

    static func visitCommands(_ visit: (_ group: String, any SessionCommand.Type) -> Void) {
        visit("COMMANDS", ConfigPathCommand.self)
        visit("COMMANDS", ConfigCheckCommand.self)
        visit("COMMANDS", ConfigEditCommand.self)
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
    static var statuses: [ExitStatus] { [.done, .usage, .unavailable, .notPermitted, .configuration] }

    func run(in session: Session) throws(Failure) -> Report {
        let path = try session.configurationFile.path
        return session.report(["path": .string(path)] as JSON) { $0.line(path) }
    }
}

struct ConfigCheckCommand: SessionCommand {
    static let name = "check"
    static let help = CommandHelp(
        "Check the configuration file.",
        """
        Runs norrisd --check-config, which prints ok, or each fault with its line and what to write instead.

        Examples:
          norrisctl config check
          norrisctl config check && norrisctl reload
        """)
    static var statuses: [ExitStatus] { [.done, .usage, .unavailable, .notPermitted, .configuration] }

    func run(in session: Session) throws(Failure) -> Report {
        let path = try session.configurationFile.path
        guard session.system.exists(path) else {
            return session.report(["path": .string(path), "valid": true] as JSON) {
                $0.line("ok: there is no \(path), so the defaults apply")
            }
        }
        let status = ExitStatus(rawValue: try session.checkConfiguration(path).status) ?? .internalError
        return session.report(["path": .string(path), "valid": .bool(status == .done)] as JSON, status: status) {
            if status == .done { $0.line("ok") }
        }
    }
}

struct ConfigEditCommand: SessionCommand {
    static let name = "edit"
    static let help = CommandHelp(
        "Edit the configuration file.",
        """
        Opens a copy in $VISUAL or $EDITOR, else in editor, vi or nano. The copy is checked, and replaces the file
        only if it has no faults. Without a file, the copy has the most used settings as comments. On a terminal,
        norrisctl then offers to apply the change.

        Examples:
          norrisctl config edit
          sudo norrisctl config edit
          EDITOR=nano norrisctl config edit
        """)
    static var statuses: [ExitStatus] {
        [.done, .usage, .unavailable, .inputOutput, .temporary, .notPermitted, .configuration]
    }

    static let hasFields = false

    /// The largest file that norrisd reads, in bytes.
    private static let longestFile = 1 << 20

    func run(in session: Session) throws(Failure) -> Report {
        let (path, isRunning) = try session.configurationFile
        let socket = optionWords(("--socket", session.settings.socket))
        guard session.system.mayReplace(path) else {
            // sudo(8) clears the environment, so the command names a socket or path that the environment has selected.
            let answered = isRunning ? session.sockets.first { session.system.listener($0) != nil } : nil
            let edit =
                ["sudo", "norrisctl", "config", "edit"]
                + optionWords(("--socket", answered == SocketPath.system ? nil : answered))
            let words = isRunning || path == Session.systemFile ? edit : ["sudoedit", path]
            let hint = shellCommand(words).map { "Run: \(command: $0)" as Advice }
            throw Failure(.notPermitted, "You may not change \(path).", hint: hint)
        }
        let old = try contents(of: path, session)
        let copy = Self.copy(of: path, old)
        var isResumed = session.system.exists(copy)
        if isResumed {
            session.writeError("norrisctl: Continuing with the unsaved changes in \(copy).")
            if session.canAsk {
                switch session.asksAboutCopy("Continue?") {
                case .yes: break
                case .no: return unchanged(path, session, note: "The unsaved changes in \(copy) were not applied.")
                case .discard:
                    session.system.removeFile(copy)
                    isResumed = false
                }
            }
        }
        let start: [UInt8]?
        if isResumed {
            start = try contents(of: copy, session)
        } else {
            let text = old ?? Array(Self.template.utf8)
            try writing(copy) { () throws(SystemError) in try session.system.createFile(copy, text) }
            start = text
        }
        defer {
            // Deletes a new copy without changes, also if the editor fails.
            if !isResumed, (try? contents(of: copy, session)) == start { session.system.removeFile(copy) }
        }
        let edited = try editedUntilValid(copy, session)
        if edited.isDiscarded {
            session.system.removeFile(copy)
            return unchanged(path, session, note: "Your changes were discarded.")
        }
        guard let new = edited.text else {
            throw Failure(
                .configuration, "The configuration has faults, so \(path) was not changed.",
                hint: "Your changes are in \(copy). Go on with: \(command: "norrisctl config edit")")
        }
        guard new != start else {
            var report = session.report(["path": .string(path), "changed": false] as JSON) {
                $0.line("unchanged: \(path)")
            }
            if isResumed {
                report.note("The unsaved changes in \(copy) were not applied.")
                report.hint("To apply them, change something in the editor; to discard them, delete that file.")
            }
            return report
        }
        guard try contents(of: path, session) == old else {
            throw Failure(
                .temporary, "\(path) changed while you edited, so it was not replaced.",
                hint: """
                    Your changes are in \(copy). \
                    Compare them: \(command: "diff \(shellQuoted(path)) \(shellQuoted(copy))"), \
                    then delete the copy: \(command: "rm \(shellQuoted(copy))")
                    """)
        }
        try writing(path) { () throws(SystemError) in try session.system.writeFile(path, new) }
        session.system.removeFile(copy)
        var report = session.report(["path": .string(path), "changed": true] as JSON) { $0.line("saved: \(path)") }
        guard isRunning, !session.settings.json, let reload = shellCommand(["norrisctl", "reload"] + socket) else {
            return report
        }
        guard session.canAsk, session.asks("Saved. Apply it now?") else {
            report.remark("Apply it: \(reload)")
            return report
        }
        // The time in the editor does not count.
        let fresh = session.with { _ in }
        report.attempt { () throws(Failure) in
            _ = try fresh.call(ServerReload.self)
            return "reloaded"
        }
        return report
    }

    private func unchanged(_ path: String, _ session: Session, note: String) -> Report {
        var report = session.report(["path": .string(path), "changed": false] as JSON) { $0.line("unchanged: \(path)") }
        report.note(note)
        return report
    }

    /// The text of a new file: the most used settings as comments.
    private static let template = """
        # The configuration of norrisd. Each setting has a default; remove the # before a line to change it.
        # man norrisd.conf describes all settings. norrisctl feed add is the easy way to add a feed.

        #facts:
        #  refresh: 24h
        #  fortunes: [/usr/share/games/fortunes]

        #gifs:
        #  api_key_file: ~/.config/norrisd/giphy-api-key
        #  rating: g

        #posts:
        #  refresh: 30m
        #  keep: 90d
        #  sources:
        #    planet: {kind: feed, url: https://planet.debian.org/rss20.xml}
        #    town: {kind: mastodon, url: https://mastodon.example}

        """

    /// Returns the path of the edited copy, which is in the same folder, because relative paths in the file refer to
    /// the folder, and has the same ending, because editors use it. A hash of the file's content in the name limits the
    /// reuse of an old copy to an unchanged file.
    static func copy(of path: String, _ content: [UInt8]?) -> String {
        let hash = String(stableHash(String(decoding: content ?? [], as: UTF8.self)), radix: 36)
        return path.hasSuffix(".yaml") ? "\(path.dropLast(5)).edit-\(hash).yaml" : "\(path).edit-\(hash)"
    }

    /// Returns nil if the file does not exist.
    private func contents(of path: String, _ session: Session) throws(Failure) -> [UInt8]? {
        do {
            return try session.system.readFile(path, Self.longestFile)
        } catch {
            guard error.code != 2 else { return nil }
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

    /// Returns the edited content of the copy. There is no text if it has faults and the user does not edit it again.
    private func editedUntilValid(
        _ copy: String, _ session: Session
    ) throws(Failure) -> (text: [UInt8]?, isDiscarded: Bool) {
        var line: Int?
        while true {
            try session.edit(copy, line: line)
            guard let new = try contents(of: copy, session) else {
                throw Failure(.inputOutput, "The editor has removed \(copy), so nothing was changed.")
            }
            let check = try session.checkConfiguration(copy)
            if check.status == 0 { return (new, false) }
            guard session.canAsk else { return (nil, false) }
            switch session.asksAboutCopy("Edit it again?") {
            case .yes: line = check.line
            case .no: return (nil, false)
            case .discard: return (nil, true)
            }
        }
    }
}

extension System {
    func exists(_ path: String) -> Bool {
        do {
            _ = try fileStatus(path)
            return true
        } catch {
            return error.code != 2
        }
    }
}

extension Session {
    fileprivate static let systemFile = "/etc/norrisd/config.yaml"

    /// The path of the configuration file, and whether the daemon answers. Without an answer, the path is the file that
    /// norrisd would read if this user or the system started it.
    fileprivate var configurationFile: (path: String, isRunning: Bool) {
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
            if let path = info?.value.configPath { return (path, true) }
            if let path = system.environment.value(of: "NORRISD_CONFIG") { return (path, info != nil) }
            let home = system.environment.value(of: "HOME").map { "\($0)/.config" }
            let folder = system.environment.value(of: "XDG_CONFIG_HOME") ?? home
            let own = folder.map { "\($0)/norrisd/config.yaml" }
            let paths = [own, Self.systemFile].compactMap { $0 }
            guard let path = paths.first(where: system.exists) ?? own else {
                throw Failure(.configuration, "There is no home directory for a configuration file.", hint: "Set HOME.")
            }
            return (path, info != nil)
        }
    }

    /// Whether norrisctl can ask the user.
    var canAsk: Bool { system.isInputTerminal && system.isErrorTerminal }

    /// Asks a question on the terminal. Yes is the default; the end of the input means no.
    func asks(_ question: String) -> Bool {
        writeError("\(question) [Y/n]")
        guard let answer = system.readAnswer()?.lowercased() else { return false }
        return !["n", "no"].contains(answer)
    }

    fileprivate enum CopyAnswer { case yes, no, discard }

    /// Asks a question about an edited copy, which the user may discard.
    fileprivate func asksAboutCopy(_ question: String) -> CopyAnswer {
        writeError("\(question) [Y/n/d] (d discards the changes)")
        guard let answer = system.readAnswer()?.lowercased() else { return .no }
        if ["d", "discard"].contains(answer) { return .discard }
        return ["n", "no"].contains(answer) ? .no : .yes
    }

    /// Runs `norrisd --check-config`, and writes the faults to standard error. Returns the exit status of norrisd and
    /// the line of the first fault.
    func checkConfiguration(_ path: String) throws(Failure) -> (status: Int32, line: Int?) {
        // A norrisd in the folder of norrisctl has the same version, because both are installed together.
        for program in system.ownFolders().map({ "\($0)/norrisd" }) + ["norrisd"] {
            let outcome = system.run(
                SubprocessRequest(
                    program: program, arguments: ["--check-config", "--config", path],
                    output: .collected(limit: 1 << 20), collectsErrors: true))
            switch outcome {
            case .missing: continue
            case .ended(let status, let output):
                let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map { line in
                    line.hasPrefix("norrisd: ") ? line.dropFirst(9) : line
                }
                for line in lines where line != "ok" { writeError(String(line)) }
                let first = lines.first { $0.hasPrefix("line ") }
                return (status, first.flatMap { Int($0.dropFirst(5).prefix { $0 != ":" }) })
            default: throw .unfinished("norrisd", outcome)
            }
        }
        throw Failure(.unavailable, "norrisd is not installed here, so \(path) cannot be checked.")
    }

    /// Runs the user's editor. The shell splits $VISUAL or $EDITOR, which may contain arguments as in git(1). The path
    /// is a separate argument, after `+LINE` for an editor that is known to accept it.
    fileprivate func edit(_ path: String, line: Int?) throws(Failure) {
        let chosen = ["VISUAL", "EDITOR"].lazy.compactMap { system.environment.value(of: $0) }.first
        for editor in chosen.map({ [$0] }) ?? ["editor", "vi", "nano"] {
            let program = String(editor.prefix { $0 != " " })
            guard system.isInstalled(program) || program.contains(where: { "\"'$\\=~`(".contains($0) }) else {
                guard chosen != nil else { continue }
                throw missing(program)
            }
            let known = ["editor", "vi", "vim", "nvim", "nano", "emacs", "emacsclient", "micro", "joe", "jed", "mg"]
            let name = String(program.split(separator: "/").last ?? "")
            let position = line.flatMap { known.contains(name) ? "+\($0) " : nil } ?? ""
            let outcome = system.run(
                SubprocessRequest(
                    program: "/bin/sh",
                    arguments: ["-c", "trap : INT QUIT; \(editor) \(position)\"$1\"", editor, path],
                    input: .inherited, output: .terminal(reset: []), inheritsErrors: chosen != nil, keepsKeys: true))
            switch outcome {
            case .ended(status: 0, _): return
            // 127 is the shell's exit status for a program that does not exist.
            case .ended(status: 127, _):
                guard chosen != nil else { continue }
                throw missing(editor)
            case .ended(let status, _):
                throw Failure(
                    .unavailable, "The editor '\(editor)' failed with status \(status), so nothing was changed.",
                    hint: otherEditor(than: program))
            default: throw .unfinished(editor, outcome)
            }
        }
        throw Failure(.unavailable, "No editor is installed.", hint: otherEditor(than: ""))
    }

    private func missing(_ editor: String) -> Failure {
        Failure(
            .unavailable, "The editor '\(editor)' is not installed, so nothing was changed.",
            hint: otherEditor(than: editor))
    }

    /// The command with an installed editor, the simplest first; else the command that installs one.
    private func otherEditor(than editor: String) -> Advice {
        let found = ["nano", "micro", "vim", "vi", "nvim", "emacs", "ed"].first {
            $0 != editor && system.isInstalled($0)
        }
        guard let found else { return "Install one: \(command: "apt install nano")" }
        return "Use another one: \(command: "EDITOR=\(found) norrisctl config edit")"
    }
}
