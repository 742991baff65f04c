import Glibc
import NorrisClient
import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisText

/// A check of `norrisctl doctor` and its outcome.
struct Check: Equatable, JSONEncodable {
    enum Outcome: String {
        case ok, warn, fail

        var style: Style {
            switch self {
            case .ok: .good
            case .warn: .warning
            case .fail: .bad
            }
        }
    }

    let outcome: Outcome
    let subject: String
    /// A single sentence.
    let message: String
    /// The advice that solves the problem, preferably a command.
    var fix: Advice?
    /// The exit status of norrisctl if this check is the first failure.
    var status = ExitStatus.done

    func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("check", subject)
        json.member("outcome", outcome.rawValue)
        json.member("message", message)
        json.member("fix", fix?.text(socket: nil))
        json.endObject()
    }
}

/// Runs the checks in the order in which they depend on each other. Stops when a failure prevents the next check.
struct Doctor {
    private let session: Session
    private(set) var checks: [Check] = []
    /// The commands for the daemon that has replied on `socket`.
    private var commands: DaemonCommands
    private var socket = ""

    private var now: Timestamp { session.system.now }

    init(_ session: Session) {
        self.session = session
        commands = DaemonCommands(socket: "")
        session.system.waiting.show("waiting for norrisd")
        guard let info = examineSockets(), examineVersion(info), let status = examineStatus() else { return }
        examineDatabases(status.database)
        examineClock(status.sources)
        examineSources(status.sources)
        examinePrompt()
    }

    private mutating func ok(_ subject: String, _ message: String) {
        checks.append(Check(outcome: .ok, subject: subject, message: message))
    }

    private mutating func warn(_ subject: String, _ message: String, _ fix: Advice?) {
        let fix = fix?.repeating(socket: session.settings.socket)
        checks.append(Check(outcome: .warn, subject: subject, message: message, fix: fix))
    }

    private mutating func fail(_ subject: String, _ failure: Failure) {
        let fix = failure.hint?.repeating(socket: session.settings.socket)
        checks.append(
            Check(outcome: .fail, subject: subject, message: failure.message, fix: fix, status: failure.status))
    }

    private mutating func fail(_ subject: String, _ status: ExitStatus, _ message: String, _ hint: Advice) {
        fail(subject, Failure(status, message, hint: hint))
    }

    // MARK: The daemon

    /// Returns the commands for the daemon that listens on a socket.
    ///
    /// - Parameter process: The process id that the daemon reports.
    private func commands(_ socket: String, process: Int? = nil) -> DaemonCommands {
        let process = DaemonProcess(socket: socket, reported: process, system: session.system)
        return DaemonCommands(socket: socket, process: process)
    }

    /// Finds the first socket that accepts a connection, and returns the reply to `server.info`.
    private mutating func examineSockets() -> Response.Outcome? {
        let request = Session.line(ServerInfo.name, JSON?.none)
        var failures: [ClientError] = []
        for socket in session.sockets {
            do throws(Failure) {
                let info = try session.send(request, to: [socket])
                for error in failures {
                    // A missing socket needs no warning, because another socket works.
                    if case .noSocket = error { continue }
                    let failure = session.failure(error)
                    warn("socket", failure.message, failure.hint)
                }
                ok("socket", "\(socket) is there.")
                ok("connect", "norrisd answers.")
                (self.socket, commands) = (socket, commands(socket))
                return info
            } catch {
                guard let connection = error.connection else {
                    ok("socket", "\(socket) is there.")
                    fail("connect", restartHint(error, socket))
                    return nil
                }
                failures.append(connection)
                if case .timedOut = connection { break }
            }
        }
        let worst = ClientError.mostTelling(of: failures)
        if worst.hasSocket { ok("socket", "There is a socket.") }
        // A timeout ends the loop, so the socket that timed out is the last one tried.
        let last = session.sockets[failures.count - 1]
        fail(worst.hasSocket ? "connect" : "socket", restartHint(session.failure(worst), last))
        return nil
    }

    /// Replaces the hint of a daemon that hangs, because that hint names this command.
    private func restartHint(_ failure: Failure, _ socket: String) -> Failure {
        var failure = failure
        switch failure.connection {
        case .timedOut?, nil: failure.hint = "Restart it: \(commands(socket).kill)"
        case .closed?, .malformedReply?, .system?: failure.hint = commands(socket).log
        default: break
        }
        return failure
    }

    /// Returns the result of a method. Adds a failed check and returns nil if the result is unreadable.
    private mutating func read<M: Method>(
        _ outcome: Response.Outcome, of method: M.Type, _ subject: String
    ) -> M.Result? {
        do throws(Failure) { return try session.read(outcome, of: method).value } catch {
            var failure = error
            if failure.response == nil || failure.response?.code == .unknownMethod {
                failure.hint = "Update both, then: \(commands.replace)"
            }
            fail(subject, failure)
            return nil
        }
    }

    /// Returns whether norrisctl and the daemon speak the same protocol version.
    private mutating func examineVersion(_ outcome: Response.Outcome) -> Bool {
        let result: ServerInfo.Result? = read(outcome, of: ServerInfo.self, "version")
        guard let info = result else { return false }
        commands = commands(socket, process: info.pid)
        let server = "norrisd \(info.version) speaks protocol \(info.protocolVersion)"
        let client = "norrisctl \(NorrisVersion.current)"
        guard info.protocolVersion == ServerInfo.protocolVersion else {
            fail(
                "version", .unavailable, "\(server), \(client) speaks protocol \(ServerInfo.protocolVersion).",
                info.protocolVersion > ServerInfo.protocolVersion
                    ? "Update norrisctl." : "Update norrisd, then: \(commands.replace)")
            return false
        }
        if info.version == NorrisVersion.current {
            ok("version", "\(server), as this norrisctl does.")
        } else {
            warn("version", "\(server), but this is \(client).", "Update both, then: \(commands.replace)")
        }
        return true
    }

    private mutating func examineStatus() -> ServerStatus.Result? {
        let outcome: Response.Outcome
        do {
            outcome = try session.send(Session.line(ServerStatus.name, JSON?.none), to: [socket])
        } catch {
            fail("status", restartHint(error, socket))
            return nil
        }
        let result: ServerStatus.Result? = read(outcome, of: ServerStatus.self, "status")
        guard let status = result else { return nil }
        let message = status.message.isEmpty ? status.state.rawValue : status.message
        if status.state == .ok {
            ok("status", message)
        } else if status.configurationError != nil {
            warn("status", message, "See what is wrong: \(command: "norrisctl config check")")
        } else {
            warn("status", message, commands.log)
        }
        return status
    }

    // MARK: Databases and clock

    /// Checks whether the databases are writable, and the free disk space, which older daemons do not report.
    private mutating func examineDatabases(_ database: ServerStatus.Database) {
        let (cache, state) = (byteSizeText(database.cacheBytes), byteSizeText(database.stateBytes))
        if database.isReadOnly {
            let hint: Advice = "Free space or repair the disk: \(command: commands.disk), then: \(commands.replace)"
            fail("databases", .inputOutput, "The databases are read-only; nothing new is stored.", hint)
        } else {
            ok("databases", "They can be written: cache \(cache), state \(state).")
        }
        guard let freeBytes = database.freeBytes else { return }
        let message = "\(byteSizeText(freeBytes)) are free for the databases."
        let hint: Advice = "Free some space. See what is full: \(command: commands.disk)"
        if freeBytes <= 0 {
            fail("disk", .inputOutput, "No space is left for the databases.", hint)
        } else if freeBytes < ServerStatus.Database.scarceBytes {
            warn("disk", message, hint)
        } else {
            ok("disk", message)
        }
    }

    /// Checks the clock, because certificates and schedules depend on it.
    ///
    /// - Parameter sources: The sources of a daemon on the same machine, so their last fetches are in the past.
    private mutating func examineClock(_ sources: [SourceStatus]) {
        let fix: Advice = "Set it: \(command: "timedatectl set-ntp true")"
        let clock = session.layout.width == nil ? "\(now)" : session.system.localTime(now)
        if now < NorrisVersion.beginningOfYear {
            warn("clock", "It says \(clock), which is before norrisctl was made.", fix)
        } else if let latest = sources.compactMap(\.freshness.fetchedAt).max(), latest.seconds > now.seconds + 300 {
            // The margin of 300 seconds covers a fetch after norrisctl read the clock.
            let age = relativeTime(of: latest, at: now)
            warn("clock", "It was set back: by it a source was last fetched \(age).", fix)
        } else {
            ok("clock", "It says \(clock).")
        }
    }

    // MARK: Sources

    /// Reports the network if it explains the failure of all fetches, else each source.
    private mutating func examineSources(_ sources: [SourceStatus]) {
        // The daemon never fetches a source without its key.
        let fetched = sources.filter { $0.isEnabled && $0.freshness.error?.kind != .credentials }
        let failures = fetched.compactMap { source in source.freshness.error.map { (source.name, $0) } }
        // The newest failure, if every fetched source fails before its upstream replies.
        guard fetched.allSatisfy(\.isCutOff), let (name, failure) = failures.max(by: { $0.1.since < $1.1.since }) else {
            return sources.forEach { examine($0) }
        }
        warn(
            "network", "No source can be fetched: \(name): \(failure.summary(now: now)).",
            """
            Test the network: \
            \(command: "resolvectl query api.chucknorris.io; curl -I https://api.chucknorris.io"); \
            or set http.proxy in the configuration, then: \(command: "norrisctl reload")
            """)
        sources.filter { !$0.isCutOff }.forEach { examine($0) }
    }

    private mutating func examine(_ source: SourceStatus) {
        let subject = "source \(source.name)"
        let stored = "\(countText(source.items, "item")) \(source.items == 1 ? "is" : "are") stored"
        let error = source.freshness.error
        guard source.isEnabled else { return ok(subject, "It is turned off; \(stored).") }
        if source.isConfigured == false { return ok(subject, session.text("Not set up; norrisctl gif says how.")) }
        // The fix contains the time of the next try.
        guard let concern = error?.summary(now: now) ?? source.freshness.concern(now: now) else {
            return ok(subject, "\(stored).")
        }
        let lacksKey = source.kind == "giphy" && error?.kind == .credentials
        warn(
            subject, "\(concern.prefix(1).uppercased())\(concern.dropFirst()).",
            lacksKey ? commands.gifKey : retry(source))
    }

    /// Returns the time of the next try, or the command for a try now if the time is unknown.
    private func retry(_ source: SourceStatus) -> Advice? {
        if let time = source.nextRunAt ?? source.freshness.error?.retryAt {
            return "Next try \(upcomingTime(of: time, at: now))."
        }
        return "Try now: \(command: "norrisctl refresh \(source.name) --wait")"
    }

    // MARK: Prompt facts

    private static let systemPath = "/run/norrisd/prompt-facts"

    /// Checks the prompt-facts file, which shells read for their prompts, at the first path that exists.
    private mutating func examinePrompt() {
        let userFolder = session.system.environment.value(of: "XDG_RUNTIME_DIR")
        let paths = [userFolder.map { "\($0)/norrisd/prompt-facts" }, Self.systemPath].compactMap { $0 }
        for path in paths {
            do {
                return try examinePrompt(path)
            } catch {
                guard error.code != ENOENT else { continue }
                let look = shellCommand(["ls", "-ld", path]).map { "Check its permissions: \(command: $0)" as Advice }
                return warn("prompt", "\(path) cannot be read: \(error.reason).", look)
            }
        }
        let rewrite: Advice = "Rewrite it: \(commands.replace)"
        let export: Advice = """
            Tell the daemon and your shell: \(command: "export XDG_RUNTIME_DIR=/run/user/$(id -u)"), \
            then: \(commands.replace)
            """
        warn(
            "prompt", "Shells have no facts to show: there is no \(paths.joined(separator: " or ")).",
            userFolder == nil && !commands.isForSystem ? export : rewrite)
    }

    private mutating func examinePrompt(_ path: String) throws(SystemError) {
        let status = try session.system.fileStatus(path)
        guard status.isPlainFile else {
            return warn("prompt", "\(path) is not a plain file.", "Move it away, then: \(commands.replace)")
        }
        _ = try session.system.readFile(path, 0)
        // The system's daemon does not maintain the file of a user.
        let remove = commands.isForSystem && path != Self.systemPath ? shellCommand(["rm", path]) : nil
        let repair =
            remove.map { "No daemon updates it. Delete it: \(command: $0)" as Advice }
            ?? "Rewrite it: \(commands.replace)"
        let age = relativeTime(of: min(status.modifiedAt, now), at: now)
        if status.bytes == 0 {
            warn("prompt", "\(path) is empty.", repair)
        } else if status.modifiedAt.seconds < now.seconds - 3_600 {
            // The daemon replaces the file every ten minutes.
            warn("prompt", "\(path) was last written \(age).", repair)
        } else {
            ok("prompt", "\(path) was written \(age).")
        }
    }
}

extension SourceStatus {
    /// Whether fetches from the source fail before the upstream replies.
    fileprivate var isCutOff: Bool { isEnabled && [.offline, .timeout].contains(freshness.error?.kind) }
}

extension ClientError {
    /// Whether a socket exists at the path, so that the fault is behind the socket.
    fileprivate var hasSocket: Bool {
        switch self {
        case .noSocket, .notASocket, .pathTooLong, .notPermitted, .system: false
        case .refused, .timedOut, .closed, .malformedReply: true
        }
    }
}
