import NorrisClient
import NorrisProtocol
import NorrisTerminal

/// Looks at everything between the user and the facts, in the order in which one thing needs the other, and stops
/// where the next cannot be looked at any more.
struct Doctor {
    let session: Session
    private(set) var checks: [Check] = []

    init(_ session: Session) {
        self.session = session
    }

    mutating func examine() {
        guard let (socket, info) = examineSockets(), examineVersion(info, socket) else { return }
        examineStatus(socket)
    }

    // MARK: The way to the daemon

    /// The first socket that answers, and what it answers to `server.info`.
    private mutating func examineSockets() -> (socket: String, info: Result<JSON, ResponseError>)? {
        let request = Session.line(ServerInfo.description.name, JSON?.none)
        var failures: [ClientError] = []
        for socket in session.sockets {
            do {
                let info = try session.send(request, to: [socket])
                report(failures)
                checks.append(.ok("socket", "\(socket) is there."))
                checks.append(.ok("connect", "norrisd answers."))
                return (socket, info)
            } catch .connection(let error) {
                failures.append(error)
                if case .timedOut = error {
                    break
                }
            } catch {
                checks.append(.ok("socket", "\(socket) is there."))
                checks.append(.fail("connect", session.failure(error)))
                return nil
            }
        }
        let worst = ClientError.mostTelling(of: failures)
        if worst.hasSocket {
            checks.append(.ok("socket", "There is a socket."))
        }
        checks.append(.fail(worst.hasSocket ? "connect" : "socket", session.failure(.connection(worst))))
        return nil
    }

    /// Sockets that were tried in vain before one answered. That one is missing is nothing to speak of.
    private mutating func report(_ failures: [ClientError]) {
        for error in failures {
            if case .noSocket = error {
                continue
            }
            let failure = session.failure(.connection(error))
            checks.append(.warn("socket", failure.message, fix: failure.hint))
        }
    }

    // MARK: What the daemon says

    /// Whether it makes sense to go on.
    private mutating func examineVersion(_ outcome: Result<JSON, ResponseError>, _ socket: String) -> Bool {
        let info: ServerInfo.Result
        do {
            info = try session.read(outcome, of: ServerInfo.description).value
        } catch {
            checks.append(.fail("version", error))
            return false
        }
        let server = "norrisd \(info.version) speaks protocol \(info.protocolVersion)"
        let client = "norrisctl \(NorrisVersion.current)"
        let update = "Update both, then: \(DaemonCommands(socket: socket).restart)"
        guard info.protocolVersion == ServerInfo.protocolVersion else {
            let message = "\(server), \(client) speaks protocol \(ServerInfo.protocolVersion)."
            checks.append(.fail("version", Failure(.unavailable, message, hint: update)))
            return false
        }
        if info.version == NorrisVersion.current {
            checks.append(.ok("version", "\(server), as this norrisctl does."))
        } else {
            checks.append(.warn("version", "\(server), but this is \(client).", fix: update))
        }
        return true
    }

    private mutating func examineStatus(_ socket: String) {
        let commands = DaemonCommands(socket: socket)
        let status: ServerStatus.Result
        do {
            status = try session.call(ServerStatus.description).value
        } catch {
            checks.append(.fail("status", error))
            return
        }
        let message = status.message.isEmpty ? status.state.rawValue : status.message
        checks.append(
            status.state == .ok ? .ok("status", message) : .warn("status", message, fix: commands.log)
        )
        for source in status.sources {
            checks.append(source.check(now: session.system.now, commands))
        }
        checks.append(status.database.check(commands))
    }
}

extension ClientError {
    /// Whether there is a socket at the path, so that what is wrong is behind it.
    fileprivate var hasSocket: Bool {
        switch self {
        case .noSocket, .notASocket, .pathTooLong, .notPermitted, .system: false
        case .refused, .timedOut, .closed, .malformedReply: true
        }
    }
}

extension SourceStatus {
    fileprivate func check(now: Timestamp, _ commands: DaemonCommands) -> Check {
        let subject = "source \(name)"
        guard isEnabled else { return .ok(subject, "It is turned off; \(items) items are stored.") }
        guard let concern = freshness.concern(now: now) else {
            return .ok(subject, "\(items) items are stored.")
        }
        return .warn(subject, "It is \(concern).", fix: commands.log)
    }
}

extension ServerStatus.Database {
    fileprivate func check(_ commands: DaemonCommands) -> Check {
        guard isReadOnly else {
            let sizes = "cache \(byteSizeText(cacheBytes)), state \(byteSizeText(stateBytes))"
            return .ok("databases", "They can be written: \(sizes).")
        }
        return .fail(
            "databases",
            Failure(
                .inputOutput,
                "They cannot be written, so nothing new is kept.",
                hint: "Free space or repair the disk (df -h), then: \(commands.restart)"
            )
        )
    }
}
