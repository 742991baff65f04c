import Glibc
import NorrisArguments
import NorrisClient
import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisText

struct DoctorCommand: SessionCommand {
    static let name = "doctor"
    static let help = CommandHelp(
        "Find problems and say how to fix them.",
        """
        Checks the socket, the daemon, its configuration, databases and sources, the clock, and the facts for prompts.
        Each line begins with ok, warn or fail. The exit status is that of the first failure.

        Tab-separated in a pipe: outcome, check, message with its fix.

        Examples:
          norrisctl doctor
          norrisctl doctor --timeout 1s && echo healthy
        """)

    func run(in session: Session) -> Report {
        let checks = Doctor(session).checks
        let status = checks.first { $0.outcome == .fail }?.status ?? .done
        let members = ["check", "outcome", "message", "fix"].map {
            Schema.Member(name: $0, schema: .string, isRequired: $0 != "fix")
        }
        let list = Schema.Member(name: "checks", schema: .list(.object(members)), isRequired: true)
        return session.report(EncodedJSON(["checks": checks]), schema: .object([list]), status: status) { screen in
            let widths = checks.map { Span($0.subject).width }
            let subjectWidth = widths.filter { $0 <= Self.maximumSubjectWidth }.max() ?? 0
            checks.forEach { show($0, &screen, subjectWidth: subjectWidth) }
        }
    }

    /// The widest column of subjects. A longer subject, such as a source with a long name, has its own line.
    private static let maximumSubjectWidth = 20

    private func show(_ check: Doctor.Check, _ screen: inout Screen, subjectWidth: Int) {
        let outcome = Span(check.outcome.rawValue, check.style)
        let subject = Span(check.subject)
        guard let width = screen.layout.width else {
            let text = check.message + (check.fix.map { " \($0.text(socket: nil))" } ?? "")
            screen.fields([outcome, subject, Span(text)])
            return
        }
        // In a narrow terminal, the two label columns and their gaps leave less than 30 columns for the message.
        let isNarrow = width < subjectWidth + 8 + 30
        let labels = [(label: Span(""), columns: isNarrow ? 4 : subjectWidth + 6)]
        if isNarrow {
            screen.entry([(outcome, 4)], Span("\(check.subject): \(check.message)"))
        } else if subject.width > subjectWidth {
            screen.entry([(outcome, 4)], subject, wraps: false)
            screen.entry(labels, Span(check.message))
        } else {
            screen.entry([(outcome, 4), (subject, subjectWidth)], Span(check.message))
        }
        var words = ""
        func endLine() {
            if !words.withoutSeparators.isEmpty { screen.entry(labels, Span(words.withoutSeparators)) }
            words = ""
        }
        for part in check.fix?.parts ?? [] {
            guard part.kind == .command else {
                words += part.text
                continue
            }
            endLine()
            screen.entry(labels, Span(part.text, .bold), wraps: false)
        }
        endLine()
    }
}

/// The checks, in the order in which they depend on each other. A failure that prevents the next check ends them.
private struct Doctor {
    /// The outcome of a check, for people and for `--json`.
    struct Check: JSONEncodable {
        enum Outcome: String { case ok, warn, fail }

        let outcome: Outcome
        let subject: String
        /// A single sentence.
        let message: String
        /// The advice that solves the problem, preferably a command.
        let fix: Advice?
        /// The exit status of norrisctl if this check is the first failure.
        let status: ExitStatus

        var style: Style { outcome == .ok ? .good : outcome == .warn ? .warning : .bad }

        func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("check", subject)
            json.member("outcome", outcome.rawValue)
            json.member("message", message)
            json.member("fix", fix?.text(socket: nil))
            json.endObject()
        }
    }

    private let session: Session
    private(set) var checks: [Check] = []
    /// The commands for the daemon that has replied on `socket`.
    private var commands = DaemonCommands(socket: "")
    private var socket = ""
    /// The configuration file that the daemon reads, if any.
    private var configurationFile: String?

    private var now: Timestamp { session.system.now }

    init(_ session: Session) {
        self.session = session
        session.system.waiting.show("waiting for norrisd")
        guard let info = examineSockets(), examineVersion(info), let status = examineStatus() else { return }
        examineConfiguration()
        examineDatabases(status.database)
        examineClock(status.sources)
        examineSources(status.sources)
        if status.sources.contains(where: \.hasPosts) { examineMoves() }
        examinePrompt()
    }

    private mutating func add(
        _ outcome: Check.Outcome, _ subject: String, _ message: String, _ fix: Advice? = nil,
        status: ExitStatus = .done
    ) {
        let fix = fix?.repeating(socket: session.settings.socket)
        checks.append(Check(outcome: outcome, subject: subject, message: message, fix: fix, status: status))
    }

    private mutating func fail(_ subject: String, _ failure: Failure) {
        add(.fail, subject, failure.message, failure.advice, status: failure.status)
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
        var failures: [ClientError] = []
        for socket in session.sockets {
            do throws(Failure) {
                let info = try session.send(Session.line(ServerInfo.name, JSON?.none), to: [socket])
                for error in failures {
                    // A missing socket needs no warning, because another socket works.
                    if case .noSocket = error { continue }
                    let failure = session.failure(error)
                    add(.warn, "socket", failure.message, failure.advice)
                }
                add(.ok, "socket", "\(socket) is there.")
                add(.ok, "connect", "norrisd answers.")
                (self.socket, commands) = (socket, commands(socket))
                return info
            } catch {
                guard let connection = error.connection else {
                    add(.ok, "socket", "\(socket) is there.")
                    fail("connect", error, socket)
                    return nil
                }
                failures.append(connection)
                if case .timedOut = connection { break }
            }
        }
        let worst = ClientError.mostTelling(of: failures)
        if worst.hasSocket { add(.ok, "socket", "There is a socket.") }
        // Of several missing sockets the hint names none.
        let index = failures.firstIndex(of: worst) ?? 0
        fail(worst.hasSocket ? "connect" : "socket", session.failure(worst), session.sockets[index])
        return nil
    }

    /// Adds the failure of a connection. The hint of a daemon that hangs would name this command.
    private mutating func fail(_ subject: String, _ failure: Failure, _ socket: String) {
        var failure = failure
        switch failure.connection {
        case .timedOut?, nil: failure.hint = "Restart it: \(commands(socket).kill)"
        case .closed?, .malformedReply?, .system?: failure.hint = commands(socket).log
        default: break
        }
        fail(subject, failure)
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
        guard let info = read(outcome, of: ServerInfo.self, "version") else { return false }
        commands = commands(socket, process: info.pid)
        configurationFile = info.configPath
        let own = ServerInfo.protocolVersion
        let server = "norrisd \(info.version) speaks protocol \(info.protocolVersion)"
        let client = "norrisctl \(NorrisVersion.current)"
        if info.protocolVersion != own {
            let fix: Advice =
                info.protocolVersion > own ? "Update norrisctl." : "Update norrisd, then: \(commands.replace)"
            add(.fail, "version", "\(server), \(client) speaks protocol \(own).", fix, status: .unavailable)
        } else if info.version == NorrisVersion.current {
            add(.ok, "version", "\(server), as this norrisctl does.")
        } else {
            add(.warn, "version", "\(server), but this is \(client).", "Update both, then: \(commands.replace)")
        }
        return info.protocolVersion == own
    }

    private mutating func examineStatus() -> ServerStatus.Result? {
        let outcome: Response.Outcome
        do {
            outcome = try session.send(Session.line(ServerStatus.name, JSON?.none), to: [socket])
        } catch {
            fail("status", error, socket)
            return nil
        }
        guard let status = read(outcome, of: ServerStatus.self, "status") else { return nil }
        let message = status.message.isEmpty ? status.state.rawValue : status.message
        let hasFault = status.configurationError != nil
        let fix: Advice = hasFault ? "See what is wrong: \(command: "norrisctl config check")" : commands.log
        add(status.state == .ok ? .ok : .warn, "status", message, status.state == .ok ? nil : fix)
        return status
    }

    /// Runs the check of the configuration as this user, who may not see the files of the system's daemon.
    private mutating func examineConfiguration() {
        guard let path = configurationFile, geteuid() == 0 || !commands.isForSystem,
            access(session.system.file(path), R_OK) == 0,
            let (status, lines) = try? session.checkConfiguration(path)
        else { return }
        for line in lines where line.hasPrefix("warning: ") {
            let place = line.places(of: "; run: ").first
            let message = line[..<(place?.lowerBound ?? line.endIndex)].dropFirst(9)
            let fix = place.map { "Correct it: \(command: String(line[$0.upperBound...]))" as Advice }
            add(.warn, "config", "\(message).", fix)
        }
        if status != .done {
            add(.warn, "config", "\(path) has a fault.", "See what is wrong: \(command: "norrisctl config check")")
        } else if lines == ["ok"] {
            add(.ok, "config", "\(path) has no fault.")
        }
    }

    // MARK: Databases and clock

    /// Checks whether the databases are writable, and the free disk space, which older daemons do not report.
    private mutating func examineDatabases(_ database: ServerStatus.Database) {
        let (cache, state) = (byteSizeText(database.cacheBytes), byteSizeText(database.stateBytes))
        if database.isReadOnly {
            let hint: Advice = "Free space or repair the disk: \(command: commands.disk), then: \(commands.replace)"
            add(
                .fail, "databases", "The databases are read-only; nothing new is stored.", hint, status: .inputOutput)
        } else {
            add(.ok, "databases", "They can be written: cache \(cache), state \(state).")
        }
        guard let freeBytes = database.freeBytes else { return }
        let message = "\(byteSizeText(freeBytes)) are free for the databases."
        let hint: Advice = "Free some space. See what is full: \(command: commands.disk)"
        if freeBytes <= 0 {
            add(.fail, "disk", "No space is left for the databases.", hint, status: .inputOutput)
        } else if freeBytes < ServerStatus.Database.scarceBytes {
            add(.warn, "disk", message, hint)
        } else {
            add(.ok, "disk", message)
        }
    }

    /// Checks the clock, because certificates and schedules depend on it.
    ///
    /// - Parameter sources: The sources of a daemon on the same machine, so their last fetches are in the past.
    private mutating func examineClock(_ sources: [SourceStatus]) {
        let fix: Advice = "Set it: \(command: "timedatectl set-ntp true")"
        let clock = session.layout.width == nil ? "\(now)" : now.localTime
        if now < NorrisVersion.beginningOfYear {
            add(.warn, "clock", "It says \(clock), which is before norrisctl was made.", fix)
        } else if let latest = sources.compactMap(\.freshness.fetchedAt).max(), latest.seconds > now.seconds + 300 {
            // The margin of 300 seconds covers a fetch after norrisctl read the clock.
            let fetched = session.layout.width == nil ? "\(latest)" : latest.localTime
            add(.warn, "clock", "It was set back: it says \(clock), but the last fetch was at \(fetched).", fix)
        } else {
            add(.ok, "clock", "It says \(clock).")
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
        add(
            .warn, "network", "No source can be fetched: \(name): \(failure.summary(now: now)).",
            """
            Test the network: \(command: "resolvectl query api.chucknorris.io"); \
            \(command: "curl -I https://api.chucknorris.io"); or set http.proxy in the configuration, then: \
            \(command: "norrisctl reload")
            """)
        sources.filter { !$0.isCutOff }.forEach { examine($0) }
    }

    private mutating func examine(_ source: SourceStatus) {
        let subject = "source \(source.name)"
        let stored = "\(countText(source.items, "item")) \(source.items == 1 ? "is" : "are") stored"
        let error = source.freshness.error
        guard source.isEnabled else { return add(.ok, subject, "It is turned off; \(stored).") }
        if source.isConfigured == false {
            return add(.ok, subject, session.text("Not set up; norrisctl gif says how."))
        }
        // The fix contains the time of the next try.
        guard let concern = error?.summary(now: now) ?? source.freshness.concern(now: now) else {
            return add(.ok, subject, "\(stored).")
        }
        let lacksKey = source.kind == "giphy" && error?.kind == .credentials
        add(
            .warn, subject, "\(concern.prefix(1).uppercased())\(concern.dropFirst()).",
            lacksKey ? commands.gifKey : retry(source))
    }

    /// Returns the time of the next try, or the command for a try now if the time is unknown.
    private func retry(_ source: SourceStatus) -> Advice? {
        if let time = source.nextRunAt ?? source.freshness.error?.retryAt {
            return "Next try \(value: upcomingTime(of: time, at: now))."
        }
        return "Try now: \(command: "norrisctl refresh \(source.name) --wait")"
    }

    /// Reports the sources whose upstream has moved.
    private mutating func examineMoves() {
        let outcome = try? session.send(Session.line(PostSources.name, JSON?.none), to: [socket])
        // A failure is reported by the other checks.
        let sources = outcome.flatMap { try? session.read($0, of: PostSources.self).value.items }
        for source in sources ?? [] {
            guard let address = source.movedTo else { continue }
            let words = ["norrisctl", "feed", "edit", source.name, "--url", address]
            let edit = shellCommand(words).map { "Take it over: \(command: $0)" as Advice }
            add(
                .warn, "source \(source.name)", "It has moved to \(address).",
                source.origin == .added ? edit : "Write it into this file: \(command: "norrisctl config path")")
        }
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
                return add(.warn, "prompt", "\(path) cannot be read: \(error.reason).", look)
            }
        }
        let rewrite: Advice = "Rewrite it: \(commands.replace)"
        let export: Advice = """
            Tell the daemon and your shell: \(command: session.system.runtimeFolderExport), \
            then: \(commands.replace)
            """
        add(
            .warn, "prompt", "Shells have no facts to show: there is no \(paths.joined(separator: " or ")).",
            userFolder == nil && !commands.isForSystem ? export : rewrite)
    }

    private mutating func examinePrompt(_ path: String) throws(SystemError) {
        var status = stat()
        guard stat(session.system.file(path), &status) == 0 else { throw SystemError("stat") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            return add(.warn, "prompt", "\(path) is not a plain file.", "Move it away, then: \(commands.replace)")
        }
        _ = try session.system.readFile(path, 0)
        // The system's daemon does not maintain the file of a user.
        let remove = commands.isForSystem && path != Self.systemPath ? shellCommand(["rm", path]) : nil
        let repair =
            remove.map { "No daemon updates it. Delete it: \(command: $0)" as Advice }
            ?? "Rewrite it: \(commands.replace)"
        let written = Timestamp(seconds: Int64(status.st_mtim.tv_sec))
        let age = relativeTime(of: min(written, now), at: now)
        if status.st_size == 0 {
            add(.warn, "prompt", "\(path) is empty.", repair)
        } else if written.seconds < now.seconds - 3_600 {
            // The daemon replaces the file every ten minutes.
            add(.warn, "prompt", "\(path) was last written \(age).", repair)
        } else {
            add(.ok, "prompt", "\(path) was written \(age).")
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

extension String {
    /// The text without the separators between it and the commands on the adjacent lines.
    fileprivate var withoutSeparators: String {
        let separators: Set<Character> = [" ", ",", ";"]
        let words = drop { separators.contains($0) }
        return String(words.prefix(words.count - words.reversed().prefix { separators.contains($0) }.count))
    }
}
