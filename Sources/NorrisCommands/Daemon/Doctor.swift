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
        session.system.waiting.show("waiting for norrisd")
        guard let (socket, info) = examineSockets(), examineVersion(info, socket) else { return }
        examineStatus(socket)
    }

    /// The first socket that accepts, and the reply to `server.info`.
    private mutating func examineSockets() -> (socket: String, info: Response.Outcome)? {
        let request = Session.line(ServerInfo.name, JSON?.none)
        var failures: [ClientError] = []
        for socket in session.sockets {
            do throws(Failure) {
                let info = try session.send(request, to: [socket])
                for error in failures {
                    // That one is missing is nothing to speak of.
                    if case .noSocket = error { continue }
                    let failure = session.failure(error)
                    checks.append(.warn("socket", failure.message, fix: failure.hint))
                }
                checks.append(.ok("socket", "\(socket) is there."))
                checks.append(.ok("connect", "norrisd answers."))
                return (socket, info)
            } catch {
                guard let connection = error.connection else {
                    checks.append(.ok("socket", "\(socket) is there."))
                    checks.append(.fail("connect", restartHint(error, socket)))
                    return nil
                }
                failures.append(connection)
                if case .timedOut = connection { break }
            }
        }
        let worst = ClientError.mostTelling(of: failures)
        if worst.hasSocket { checks.append(.ok("socket", "There is a socket.")) }
        // A socket that takes all the time is the last that was tried.
        let last = session.sockets[failures.count - 1]
        checks.append(.fail(worst.hasSocket ? "connect" : "socket", restartHint(session.failure(worst), last)))
        return nil
    }

    /// Elsewhere the advice for a daemon that hangs is to run this command, which is of no use here.
    private func restartHint(_ failure: Failure, _ socket: String) -> Failure {
        var failure = failure
        switch failure.connection {
        case .timedOut?, nil: failure.hint = "Start it anew: \(DaemonCommands(socket: socket).kill)"
        default: break
        }
        return failure
    }

    /// The result of a method at the socket that was found; nil, with a check, where it cannot be read.
    private mutating func read<M: Method>(
        _ outcome: Response.Outcome, of method: M.Type, _ subject: String, _ commands: DaemonCommands
    ) -> M.Result? {
        do throws(Failure) {
            return try session.read(outcome, of: method).value
        } catch {
            var failure = error
            if failure.response == nil || failure.response?.code == .unknownMethod {
                failure.hint = "Update both, then: \(commands.replace)"
            }
            checks.append(.fail(subject, failure))
            return nil
        }
    }

    /// Whether it makes sense to go on.
    private mutating func examineVersion(_ outcome: Response.Outcome, _ socket: String) -> Bool {
        let commands = DaemonCommands(socket: socket)
        let result: ServerInfo.Result? = read(outcome, of: ServerInfo.self, "version", commands)
        guard let info = result else { return false }
        let server = "norrisd \(info.version) speaks protocol \(info.protocolVersion)"
        let client = "norrisctl \(NorrisVersion.current)"
        guard info.protocolVersion == ServerInfo.protocolVersion else {
            let message = "\(server), \(client) speaks protocol \(ServerInfo.protocolVersion)."
            let hint: Advice = info.protocolVersion > ServerInfo.protocolVersion
                ? "Update norrisctl." : "Update norrisd, then: \(commands.replace)"
            checks.append(.fail("version", Failure(.unavailable, message, hint: hint)))
            return false
        }
        if info.version == NorrisVersion.current {
            checks.append(.ok("version", "\(server), as this norrisctl does."))
        } else {
            let fix: Advice = "Update both, then: \(commands.replace)"
            checks.append(.warn("version", "\(server), but this is \(client).", fix: fix))
        }
        return true
    }

    private mutating func examineStatus(_ socket: String) {
        let commands = DaemonCommands(socket: socket)
        let outcome: Response.Outcome
        do {
            outcome = try session.send(Session.line(ServerStatus.name, JSON?.none), to: [socket])
        } catch {
            checks.append(.fail("status", restartHint(error, socket)))
            return
        }
        let result: ServerStatus.Result? = read(outcome, of: ServerStatus.self, "status", commands)
        guard let status = result else { return }
        let message = status.message.isEmpty ? status.state.rawValue : status.message
        checks.append(status.state == .ok ? .ok("status", message) : .warn("status", message, fix: commands.log))
        checks += status.database.checks(commands)
        checks.append(.clock(session.system.now, sources: status.sources))
        checks += SourceChecks(sources: status.sources, now: session.system.now, commands: commands).checks
        checks.append(.prompt(session.system, commands))
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
