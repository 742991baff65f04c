import NorrisClient
import NorrisProtocol
import NorrisTerminal

/// Looks at everything between the user and the content, in the order in which one thing needs the other, and stops
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
                checks.append(.fail("connect", failure(error, socket)))
                return nil
            }
        }
        let worst = ClientError.mostTelling(of: failures)
        if worst.hasSocket {
            checks.append(.ok("socket", "There is a socket."))
        }
        // A socket that takes all the time is the last that was tried.
        let last = session.sockets[failures.count - 1]
        checks.append(.fail(worst.hasSocket ? "connect" : "socket", failure(.connection(worst), last)))
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

    /// Why a request brought no outcome. Elsewhere the advice is to run this command, which is of no use here.
    private func failure(_ error: SendError, _ socket: String) -> Failure {
        var failure = session.failure(error)
        switch error {
        case .connection(.timedOut), .reply: failure.hint = "Start it anew: \(DaemonCommands(socket: socket).restart)"
        case .connection: break
        }
        return failure
    }

    // MARK: What the daemon says

    /// The result of a method at the socket that was found.
    private func read<Value: JSONDecodable>(
        _ outcome: Result<JSON, ResponseError>,
        of method: MethodDescription,
        _ socket: String
    ) throws(Failure) -> Value {
        do {
            return try session.read(outcome, of: method).value
        } catch {
            var failure = error
            if failure.response == nil {
                failure.hint = "Update both, then: \(DaemonCommands(socket: socket).restart)"
            }
            throw failure
        }
    }

    /// Whether it makes sense to go on.
    private mutating func examineVersion(_ outcome: Result<JSON, ResponseError>, _ socket: String) -> Bool {
        let info: ServerInfo.Result
        do {
            info = try read(outcome, of: ServerInfo.description, socket)
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
        let outcome: Result<JSON, ResponseError>
        do {
            outcome = try session.send(Session.line(ServerStatus.description.name, JSON?.none), to: [socket])
        } catch {
            checks.append(.fail("status", failure(error, socket)))
            return
        }
        let status: ServerStatus.Result
        do {
            status = try read(outcome, of: ServerStatus.description, socket)
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
        // When it is tried again stands in the fix.
        guard let concern = freshness.error?.summary(now: now) ?? freshness.concern(now: now) else {
            return .ok(subject, "\(items) items are stored.")
        }
        let lacksKey = kind == "giphy" && freshness.error?.kind == .credentials
        return .warn(subject, "It is \(concern).", fix: lacksKey ? commands.gifKey : retry(now: now))
    }

    /// When it is tried again; where that is not known, how to do it now.
    private func retry(now: Timestamp) -> String? {
        if let time = freshness.error?.retryAt ?? nextRunAt {
            return "Next try \(upcomingTime(of: time, at: now))."
        }
        return shellCommand(["norrisctl", "refresh", name, "--wait"]).map { "Try now: \($0)" }
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
