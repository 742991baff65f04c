import NorrisProtocol
import NorrisTerminal
import NorrisText

/// The exit statuses of norrisctl: 0, 1, and those of sysexits.h that the contract with scripts names.
enum ExitStatus: Int32, CaseIterable, Sendable {
    case done = 0
    /// Nothing matched.
    case nothing = 1
    /// EX_USAGE: the command line or the parameters are wrong.
    case usage = 64
    /// EX_UNAVAILABLE: the daemon cannot be reached, or is too old.
    case unavailable = 69
    /// EX_SOFTWARE: one of the two programs is at fault.
    case internalError = 70
    /// EX_IOERR: something cannot be written or read.
    case inputOutput = 74
    /// EX_TEMPFAIL: later it may work.
    case temporary = 75
    /// EX_NOPERM: not permitted.
    case notPermitted = 77
    /// EX_CONFIG: the daemon's configuration lacks something.
    case configuration = 78
}

/// What a command ends with: content, lines beside it, and a status.
struct Report: Equatable, Sendable {
    /// For standard output.
    var output: [UInt8] = []
    /// For standard error: whole lines without their ends, safe for a terminal. A no-break space stands inside
    /// commands.
    private(set) var notes: [String] = []
    /// Whether the notes are for programs, one line of JSON.
    private var isErrorJSON = false
    var status: ExitStatus
    /// Whether output that is longer than the screen goes through the pager.
    private(set) var usesPager = false

    /// Whether it stands in a prompt, which goes on whatever has happened.
    var isForPrompt = false { didSet { status = isForPrompt ? .done : status } }

    init(output: String = "", status: ExitStatus = .done) {
        self.status = status
        self.output = Array(output.utf8)
    }

    /// One line for a program.
    init(json value: some JSONEncodable, status: ExitStatus = .done) {
        self.init(status: status)
        output = Self.line(value)
    }

    /// A failure in words, or, asked for JSON, the error object of the daemon if there is one.
    init(_ failure: Failure, json: Bool) {
        self.init(status: failure.status)
        if json, let response = failure.response {
            isErrorJSON = true
            notes = [String(decoding: Self.line(response).dropLast(), as: UTF8.self)]
        } else {
            add(failure)
        }
    }

    /// The report of a command in a session.
    init(of session: Session, _ run: (Session) throws(Failure) -> Report) {
        do throws(Failure) {
            self = try run(session)
        } catch {
            self.init(error, json: session.settings.json)
        }
        // A prompt has neither a pager nor notes, so the terminal is not examined.
        if isForPrompt { return }
        usesPager = !session.settings.noPager && session.system.terminal.isTerminal && !session.settings.plain
        if let socket = session.settings.socket { repeatSocket(socket) }
    }

    /// Completes the commands that the notes advise, so that they reach the same daemon.
    private mutating func repeatSocket(_ socket: String) {
        // What cannot be typed as it is cannot be shown either.
        guard let socket = shellCommand([socket]) else { return }
        for (index, note) in notes.enumerated() where !isErrorJSON && !note.contains("--socket") {
            for name in Norrisctl.commands.map({ $0.name }) {
                for (start, gap) in [(": ", " "), (": ", "\u{A0}"), ("(", " "), ("(", "\u{A0}")] {
                    let words = ["norrisctl", "--socket", socket, name].joined(separator: gap)
                    notes[index] = notes[index].replacing("\(start)norrisctl\(gap)\(name)", with: start + words)
                }
            }
        }
    }

    /// Adds a failure in words; what else there is stays.
    mutating func add(_ failure: Failure) {
        status = failure.status
        note(failure.message)
        if let hint = failure.hint {
            self.hint(hint.parts.map { $0.isCommand ? unbroken($0.text) : $0.text }.joined())
        }
        failure.steps.forEach { hint($0) }
    }

    /// Does something beside the content, and adds what has been done, or why not.
    mutating func attempt(_ body: () throws(Failure) -> String) {
        do throws(Failure) {
            remark(try body())
        } catch {
            add(error)
        }
    }

    /// Adds a line in the name of the program.
    mutating func note(_ message: String) { notes.append("norrisctl: " + sanitizedLine(message)) }

    /// Adds what to do about the line before.
    mutating func hint(_ text: String?) {
        guard let text, !text.isEmpty else { return }
        notes.append("  " + sanitizedLine(text))
    }

    /// Adds a line that is neither: what has to be said beside the content.
    mutating func remark(_ text: String) { notes.append(sanitizedLine(text)) }

    /// The notes as they are written, wrapped for a terminal of so many columns.
    func errorText(columns: Int?) -> String {
        notes.map { isErrorJSON ? $0 + "\n" : errorLines($0, columns: columns) }.joined()
    }

    private static func line(_ value: some JSONEncodable) -> [UInt8] {
        var json = JSONWriter()
        json.value(value)
        json.newline()
        return json.bytes
    }
}

/// A command whose words stay on one line of a message if it is wide enough, so that it can be copied.
func unbroken(_ command: String) -> String {
    command.split(separator: " ", omittingEmptySubsequences: false).joined(separator: "\u{A0}")
}

/// A line of standard error with its end, wrapped for a terminal of so many columns.
func errorLines(_ text: String, columns: Int?) -> String {
    func plain(_ text: some StringProtocol) -> String {
        text.split(separator: "\u{A0}", omittingEmptySubsequences: false).joined(separator: " ")
    }
    guard let columns else { return plain(text) + "\n" }
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map { word in
        displayWidth(of: String(word)) > columns - 2 ? plain(word) : String(word)
    }
    return wrapped(words.joined(separator: " "), width: columns).map { plain($0) + "\n" }.joined()
}

extension Session {
    /// The report of most commands about the result of a call, see below.
    func report<Value: WireValue>(
        _ reply: Reply<Value>, status: ExitStatus = .done, freshness: Freshness? = nil, source: String = "",
        nothing: String? = nil, show: (inout Screen) -> Void = { _ in }
    ) -> Report {
        report(
            reply.json, schema: Value.schema, status: status, freshness: freshness, source: source, nothing: nothing,
            show: show)
    }

    /// The report of most commands: the result as JSON if that was asked for, else lines. Only where there are none it
    /// says what is wrong with their source.
    ///
    /// - Parameters:
    ///   - schema: of the result, for `--format`.
    ///   - nothing: what to try where there are no items; nil where there are.
    func report(
        _ json: some JSONEncodable, schema: @autoclosure () -> Schema = .any, status: ExitStatus = .done,
        freshness: Freshness? = nil, source: String = "",
        nothing: String? = nil, show: (inout Screen) -> Void = { _ in }
    ) -> Report {
        let status = nothing == nil ? status : .nothing
        if settings.json { return Report(json: json, status: status) }
        var screen = Screen(layout: layout)
        if nothing == nil { show(&screen) }
        var report = Report(output: screen.text, status: status)
        if let template = settings.format {
            do throws(Failure) {
                report = Report(output: try template.lines(of: json, schema()), status: status)
            } catch {
                return Report(error, json: false)
            }
        }
        guard let nothing else { return report }
        // Without a key there is nothing to wait for.
        if let freshness, freshness.error?.kind != .credentials, let concern = freshness.concern(now: system.now) {
            report.note("\(source): \(concern)")
        }
        report.note(nothing)
        return report
    }
}
