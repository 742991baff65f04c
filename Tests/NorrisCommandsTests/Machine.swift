import Glibc
import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import Testing

/// Disambiguates from the `ExitStatus` of Swift Testing.
typealias ExitStatus = NorrisCommands.ExitStatus

/// A simulated machine: one daemon reply for each call, files, programs and terminals.
final class Machine {
    var environment: [String: String] = [:]
    var terminal = TerminalFacts(isTerminal: false)
    var input: [UInt8]? = []

    /// The lines of a followed connection. `streamEnd` is the error after them.
    var stream: [String] = []
    /// The lines of connections after the first.
    var laterStreams: [[String]] = []
    var streamEnd = ClientError.closed(path: "/run/norrisd.sock")
    var isErrorTerminal = false
    /// The width of standard error, if `isErrorTerminal`.
    var errorColumns = 80
    var isInputTerminal = false
    var files: [String: [UInt8]] = [:]
    /// The status of each path; nil makes stat(2) fail. A file without a status was modified at ``now``.
    var fileStatuses: [String: FileStatus?] = [
        "/opt/bin/norris-card": FileStatus(isPlainFile: true, bytes: 1, modifiedAt: Machine.now)
    ]
    /// The contents of written files. A path in `fileWriteErrors` refuses writes.
    private(set) var writtenFiles: [String: [UInt8]] = [:]
    var fileWriteErrors: [String: SystemError] = [:]
    var answers: [String] = []
    /// The changes to files that a program makes.
    var whileRunning: (SubprocessRequest) -> Void = { _ in }
    /// The error of every immediate write to standard output.
    var outputError: SystemError?

    /// The outcomes of programs, one for each run. A program without a remaining outcome is missing.
    var programs: [String: [SubprocessOutcome]] = [:]
    private(set) var runs: [SubprocessRequest] = []

    var listener: Int?
    /// The offset of the machine's time zone east of UTC, in seconds.
    static let zone: Int64 = 19_800

    /// The duration of each call, program run and streamed line.
    var delay: Duration = .zero
    private var elapsed: Duration = .zero

    private var replies: [Result<[UInt8], ClientError>]
    private(set) var requests: [JSON] = []
    private(set) var sockets: [[String]] = []
    private(set) var timeouts: [Duration] = []
    /// The timeout before each line of a followed connection.
    private(set) var waits: [Duration?] = []
    private var written: [UInt8] = []
    private var told: [UInt8] = []

    static let now = Timestamp("2026-11-21T12:00:00Z")!

    /// Sets the time zone of the process, because some texts have a local time.
    private static let utc: Void = {
        setenv("TZ", "UTC", 1)
        tzset()
    }()
    var now = Machine.now

    init(_ replies: [Result<[UInt8], ClientError>] = []) {
        _ = Self.utc
        self.replies = replies
    }

    convenience init(results: String...) {
        self.init(results.map { .success(Array(#"{"jsonrpc":"2.0","id":1,"result":\#($0)}"#.utf8)) })
    }

    convenience init(error: ResponseError) {
        self.init([.success(Array(Response(id: .integer(1), outcome: .failure(error)).jsonText.utf8))])
    }

    convenience init(failure: ClientError) { self.init([.failure(failure)]) }

    func withPromptFacts() -> Machine {
        files["/run/norrisd/prompt-facts"] = Array("One.\n".utf8)
        return self
    }

    func onTerminal(columns: Int = 80) -> Machine {
        terminal = TerminalFacts(isTerminal: true, columns: columns)
        environment["NO_COLOR"] = "1"
        return self
    }

    func run(_ arguments: String...) -> Outcome { run(arguments) }

    func reply(_ reply: Result<[UInt8], ClientError>) { replies.append(reply) }

    func run(_ arguments: [String]) -> Outcome {
        use { Outcome(Program.report(arguments: arguments, system: $0), columns: $0.errorColumns()) }
    }

    /// Calls a body with the system interface of commands.
    @discardableResult func use(_ body: (System) -> Outcome) -> Outcome {
        let waiting = WaitingLine(
            isOn: isErrorTerminal, elapsed: { self.elapsed }, columns: { self.errorColumns },
            write: { self.told += Array($0.utf8) })
        var system = System()
        system.environment = Environment(environment)
        system.terminalFacts = { self.terminal }
        system.isErrorTerminal = isErrorTerminal
        system.errorColumns = { self.isErrorTerminal ? self.errorColumns : nil }
        system.waiting = waiting
        system.isInputTerminal = isInputTerminal
        system.now = now
        system.listener = { _ in self.listener }
        system.localText = { moment, format in
            let text = Timestamp(seconds: moment.seconds + Self.zone).description
            return format == "%H:%M:%S"
                ? String(text.dropLast().suffix(8)) : "\(text.prefix(10)) \(text.dropLast().suffix(8)) IST"
        }
        system.spread = { lines, sockets, timeout, receive throws(ClientError) in
            for (index, line) in lines.enumerated() {
                guard receive(index, try system.exchange(line, sockets, Connection.maximumReply, timeout)) else {
                    return
                }
            }
        }
        system.elapsed = { self.elapsed }
        system.exchange = { line, sockets, maximumReply, timeout throws(ClientError) in
            self.pass(self.delay, waiting)
            self.sockets.append(sockets)
            self.timeouts.append(timeout)
            self.take(line)
            guard !self.replies.isEmpty else {
                Issue.record("There is no reply left for \(String(decoding: line, as: UTF8.self))")
                throw .closed(path: "/nowhere")
            }
            let reply = try self.replies.removeFirst().get()
            guard reply.count <= maximumReply else {
                throw .malformedReply(path: "/run/norrisd.sock", detail: "a long line")
            }
            return reply
        }
        system.follow = { lines, sockets, timeout, receive in self.follow(lines, sockets, timeout, waiting, receive) }
        system.writeOutput = { bytes throws(SystemError) in
            if let error = self.outputError { throw error }
            waiting.erase()
            self.written += bytes
        }
        system.writeError = { bytes in
            waiting.erase()
            self.told += bytes
        }
        system.readInput = { limit in self.input.map { Array($0.prefix(limit + 1)) } }
        system.readFile = { path, limit throws(SystemError) in
            guard let bytes = self.files[path] else {
                throw SystemError("stat", code: self.fileStatuses[path] == nil ? ENOENT : EACCES)
            }
            return Array(bytes.prefix(limit + 1))
        }
        system.fileStatus = { path throws(SystemError) in
            if let status = self.fileStatuses[path] {
                guard let status else { throw SystemError("open", code: EACCES) }
                return status
            }
            guard let bytes = self.files[path] else { throw SystemError("open", code: ENOENT) }
            return FileStatus(isPlainFile: true, bytes: bytes.count, modifiedAt: Self.now)
        }
        system.writeFile = { path, bytes throws(SystemError) in
            if let error = self.fileWriteErrors[path] { throw error }
            self.writtenFiles[path] = bytes
        }
        system.readAnswer = { self.answers.isEmpty ? nil : self.answers.removeFirst() }
        system.ownFolders = { ["/opt/bin", "/opt/libexec"] }
        system.run = { request in
            waiting.erase()
            self.runs.append(request)
            self.whileRunning(request)
            if case .collected = request.output { self.pass(self.delay, waiting) }
            guard self.programs[request.program]?.isEmpty == false else { return .missing }
            return self.programs[request.program]?.removeFirst() ?? .missing
        }
        var outcome = body(system)
        waiting.erase()
        outcome.output = String(decoding: written, as: UTF8.self) + outcome.output
        outcome.errors = String(decoding: told, as: UTF8.self) + outcome.errors
        return outcome
    }

    private func take(_ line: [UInt8]) {
        do {
            requests.append(try JSON.parse(line))
        } catch {
            Issue.record("The request is no JSON: \(String(decoding: line, as: UTF8.self))")
        }
    }

    /// Advances the clock in the steps in which the client updates the waiting line.
    private func pass(_ time: Duration, _ waiting: WaitingLine) {
        let end = elapsed + time
        while elapsed < end { elapsed = min(end, elapsed + waiting.tick()) }
    }

    private func follow(
        _ lines: [[UInt8]], _ sockets: [String], _ timeout: Duration, _ waiting: WaitingLine,
        _ receive: ([UInt8]) -> FollowStep
    ) -> ClientError? {
        self.sockets.append(sockets)
        waits.append(timeout)
        lines.forEach(take)
        defer { if !laterStreams.isEmpty { stream = laterStreams.removeFirst() } }
        for line in stream {
            pass(delay, waiting)
            guard case .goOn(let time) = receive(Array(line.utf8)) else { return nil }
            if let time, time <= .zero { return .timedOut(path: "/run/norrisd.sock") }
            waits.append(time)
        }
        return streamEnd
    }

    /// Whether the test supplied replies or streamed lines that no command read.
    var hasUnusedReplies: Bool { !replies.isEmpty || !stream.isEmpty && waits.isEmpty }

    var parameters: [String] {
        requests.map { request in
            guard case .object(let object) = request else { return "" }
            return object["params"]?.jsonText ?? ""
        }
    }

    var methods: [String] {
        requests.map { request in
            guard case .object(let object) = request, case .string(let method)? = object["method"] else { return "" }
            return method
        }
    }
}

struct Outcome: Equatable {
    var output: String
    var errors: String
    var status: ExitStatus

    init(output: String = "", errors: String = "", status: ExitStatus = .done) {
        self.output = output
        self.errors = errors
        self.status = status
    }

    static func failed(_ status: ExitStatus, _ message: String, _ hints: String...) -> Outcome {
        Outcome(errors: "norrisctl: \(message)\n" + hints.map { "  \($0)\n" }.joined(), status: status)
    }

    init(_ report: Report, columns: Int? = nil) {
        output = String(decoding: report.output, as: UTF8.self)
        errors = report.errorText(columns: columns)
        status = report.status
    }
}

extension Machine {
    static func result(_ result: String, id: Int = 1) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"result":\#(result)}"#
    }

    static func line(_ event: Event) -> String { String(decoding: event.line.dropLast(), as: UTF8.self) }
}
