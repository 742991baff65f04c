import Glibc
import NorrisProtocol
import NorrisTerminal

/// One thing that `norrisctl doctor` has looked at.
struct Check: Equatable {
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
    /// One sentence.
    let message: String
    /// What helps, where anything does; best of all a command.
    var fix: Advice?
    /// What the process ends with if this is the first failure.
    var status = ExitStatus.done

    static func ok(_ subject: String, _ message: String) -> Check {
        Check(outcome: .ok, subject: subject, message: message)
    }

    static func warn(_ subject: String, _ message: String, fix: Advice?) -> Check {
        Check(outcome: .warn, subject: subject, message: message, fix: fix)
    }

    static func fail(_ subject: String, _ failure: Failure) -> Check {
        Check(outcome: .fail, subject: subject, message: failure.message, fix: failure.hint, status: failure.status)
    }
}

extension Check: JSONEncodable {
    func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("check", subject)
        json.member("outcome", outcome.rawValue)
        json.member("message", message)
        json.member("fix", fix?.text)
        json.endObject()
    }
}

// MARK: Databases

extension ServerStatus.Database {
    /// Whether they can be written, and for how long; an older daemon does not know the second.
    func checks(_ commands: DaemonCommands) -> [Check] {
        [databases(commands)] + [disk(commands)].compactMap { $0 }
    }

    private func databases(_ commands: DaemonCommands) -> Check {
        guard isReadOnly else {
            let sizes = "cache \(byteSizeText(cacheBytes)), state \(byteSizeText(stateBytes))"
            return .ok("databases", "They can be written: \(sizes).")
        }
        let hint: Advice = "Free space or repair the disk: \(command: commands.disk), then: \(commands.replace)"
        return .fail("databases", Failure(.inputOutput, "They cannot be written, so nothing new is kept.", hint: hint))
    }

    private func disk(_ commands: DaemonCommands) -> Check? {
        guard let freeBytes else { return nil }
        guard freeBytes > 0 else {
            let hint: Advice = "Free some; what is full: \(command: commands.disk)"
            return .fail("disk", Failure(.inputOutput, "No space is left for the databases.", hint: hint))
        }
        let message = "\(byteSizeText(freeBytes)) are free for the databases."
        return freeBytes < Self.scarceBytes
            ? .warn("disk", message, fix: "Free some more; what is full: \(command: commands.disk)")
            : .ok("disk", message)
    }
}

// MARK: Clock

extension Check {
    /// Whether the clock can be right; certificates and schedules need it.
    ///
    /// - Parameter sources: of the daemon on the same machine, so that what it has fetched lies in the past.
    static func clock(_ now: Timestamp, sources: [SourceStatus]) -> Check {
        let fix: Advice = "Set it: \(command: "timedatectl set-ntp true")"
        if now < NorrisVersion.beginningOfYear {
            return .warn("clock", "It says \(now), which is before norrisctl was made.", fix: fix)
        }
        // The daemon was asked after the clock was read, and may have fetched meanwhile.
        if let latest = sources.compactMap(\.freshness.fetchedAt).max(), latest.seconds > now.seconds + 300 {
            let age = relativeTime(of: latest, at: now)
            return .warn("clock", "It was set back: by it a source was last fetched \(age).", fix: fix)
        }
        return .ok("clock", "It says \(now).")
    }
}

// MARK: Prompt facts

extension Check {
    private static let systemPath = "/run/norrisd/prompt-facts"

    /// The file with the facts that shells show in their prompts: the first one of its paths that is there.
    static func prompt(_ system: System, _ commands: DaemonCommands) -> Check {
        let userFolder = system.environment.value(of: "XDG_RUNTIME_DIR")
        let paths = [userFolder.map { "\($0)/norrisd/prompt-facts" }, systemPath].compactMap { $0 }
        for path in paths {
            do {
                return try prompt(path, system, commands)
            } catch {
                guard error.errno != ENOENT else { continue }
                let look = shellCommand(["ls", "-ld", path]).map { "See who may: \(command: $0)" as Advice }
                return .warn("prompt", "\(path) cannot be read: \(error.reason).", fix: look)
            }
        }
        let rewrite: Advice = "Have it written: \(commands.replace)"
        let export: Advice = """
            Tell the daemon and your shell: \(command: "export XDG_RUNTIME_DIR=/run/user/$(id -u)"), \
            then: \(commands.replace)
            """
        return .warn(
            "prompt", "Shells have no facts to show: there is no \(paths.joined(separator: " or ")).",
            fix: userFolder == nil && !commands.isForSystem ? export : rewrite
        )
    }

    private static func prompt(
        _ path: String, _ system: System, _ commands: DaemonCommands
    ) throws(SystemError) -> Check {
        let status = try system.fileStatus(path)
        guard status.isPlainFile else {
            return .warn("prompt", "\(path) is not a plain file.", fix: "Move it away, then: \(commands.replace)")
        }
        _ = try system.readFile(path, 0)
        guard status.bytes > 0 else { return .warn("prompt", "\(path) is empty.", fix: repair(path, commands)) }
        let age = relativeTime(of: min(status.modifiedAt, system.now), at: system.now)
        // The daemon replaces it every ten minutes.
        guard status.modifiedAt.seconds >= system.now.seconds - 3_600 else {
            return .warn("prompt", "\(path) was last written \(age).", fix: repair(path, commands))
        }
        return .ok("prompt", "\(path) was written \(age).")
    }

    /// The system's daemon does not maintain the file of a user.
    private static func repair(_ path: String, _ commands: DaemonCommands) -> Advice {
        guard commands.isForSystem, path != systemPath, let remove = shellCommand(["rm", path]) else {
            return "Have it written: \(commands.replace)"
        }
        return "Nobody keeps it any more: \(command: remove)"
    }
}

// MARK: Sources

/// What `norrisctl doctor` says of the sources: of the network if that makes all fetches fail, else of each one.
struct SourceChecks {
    let sources: [SourceStatus]
    let now: Timestamp
    let commands: DaemonCommands

    var checks: [Check] {
        guard let (source, failure) = networkFailure else { return sources.map(check) }
        let network = Check.warn(
            "network", "No source can be fetched: \(source) is \(failure.summary(now: now)).",
            fix: """
                Look at the way out: \
                \(command: "resolvectl query api.chucknorris.io; curl -I https://api.chucknorris.io"); \
                or set http.proxy in the configuration, then: \(command: "norrisctl reload")
                """
        )
        return [network] + sources.filter { !$0.isCutOff }.map(check)
    }

    /// The newest failure where every source that is fetched fails before an upstream replies.
    private var networkFailure: (source: String, failure: SourceFailure)? {
        // One without its key is not fetched at all.
        let fetched = sources.filter { $0.isEnabled && $0.freshness.error?.kind != .credentials }
        guard fetched.allSatisfy(\.isCutOff) else { return nil }
        return fetched.compactMap { source in source.freshness.error.map { (source.name, $0) } }
            .max { $0.1.since < $1.1.since }
    }

    private func check(_ source: SourceStatus) -> Check {
        let subject = "source \(source.name)"
        let stored = "\(countText(source.items, "item")) \(source.items == 1 ? "is" : "are") stored"
        let error = source.freshness.error
        guard source.isEnabled else { return .ok(subject, "It is turned off; \(stored).") }
        // When it is tried again stands in the fix.
        guard let concern = error?.summary(now: now) ?? source.freshness.concern(now: now) else {
            return .ok(subject, "\(stored).")
        }
        let lacksKey = source.kind == "giphy" && error?.kind == .credentials
        return .warn(subject, "It is \(concern).", fix: lacksKey ? commands.gifKey : retry(source))
    }

    /// When it is tried again; where that is not known, how to do it now.
    private func retry(_ source: SourceStatus) -> Advice? {
        if let time = source.freshness.error?.retryAt ?? source.nextRunAt {
            return "Next try \(upcomingTime(of: time, at: now))."
        }
        return shellCommand(["norrisctl", "refresh", source.name, "--wait"]).map { "Try now: \(command: $0)" }
    }
}

extension SourceStatus {
    /// Whether it fails before its upstream has said anything.
    fileprivate var isCutOff: Bool {
        isEnabled && [.offline, .timeout].contains(freshness.error?.kind)
    }
}
