import NorrisProtocol
import NorrisTerminal
import NorrisText

/// The result of a command: output, notes and an exit status.
struct Report {
    var output: [UInt8] = []
    /// The sentences for standard error, each with the beginning of its line.
    private var sentences: [(start: Start, text: Advice)] = []
    private enum Start: String { case note = "norrisctl: ", hint = "  ", remark = "" }
    /// The error object for programs, instead of sentences.
    private var errorJSON: String?
    /// The user's `--socket`, which commands in the sentences repeat.
    private var socket: String?
    var status: ExitStatus
    /// Whether the pager shows output that is longer than the screen.
    private(set) var usesPager = false

    /// Whether the output is for a shell prompt. The status is then always 0.
    var isForPrompt = false { didSet { status = isForPrompt ? .done : status } }

    init(output: String = "", status: ExitStatus = .done) {
        self.status = status
        self.output = Array(output.utf8)
    }

    init(json value: some JSONEncodable, status: ExitStatus = .done) {
        self.init(status: status)
        output = Self.line(value)
    }

    /// The report of a failure: words, or with `--json` an error object.
    init(_ failure: Failure, json: Bool, socket: String? = nil) {
        self.init(status: failure.status)
        if json {
            errorJSON = String(decoding: Self.line(failure.object(socket: socket)), as: UTF8.self)
        } else {
            add(failure)
        }
    }

    /// Runs a command in a session, and reports its result or failure.
    init(of session: Session, _ run: (Session) throws(Failure) -> Report) {
        do throws(Failure) {
            self = try run(session)
        } catch {
            self.init(error, json: session.settings.json, socket: session.settings.socket)
        }
        usesPager = !session.settings.noPager && session.system.terminal.isTerminal && !session.settings.plain
        socket = session.settings.socket
    }

    /// Adds the words and the status of a failure, and keeps the output.
    mutating func add(_ failure: Failure) {
        status = failure.status
        note("\(value: failure.message)")
        if let hint = failure.hint { self.hint(hint) }
        failure.steps.forEach { hint($0) }
    }

    /// Runs an action beside the output, and adds its result or failure.
    mutating func attempt(_ body: () throws(Failure) -> String) {
        do throws(Failure) {
            remark("\(value: try body())")
        } catch {
            add(error)
        }
    }

    /// Adds a line that begins with `norrisctl:`.
    mutating func note(_ message: Advice) { sentences.append((.note, message)) }

    /// Adds the sentences of another report.
    mutating func add(_ other: Report) { sentences += other.sentences }

    /// The last line that begins with `norrisctl:`, without this beginning.
    var lastNote: String? { sentences.last { $0.start == .note }?.text.text(socket: socket) }

    /// Adds the advice about the preceding line.
    mutating func hint(_ advice: Advice) { sentences.append((.hint, advice)) }

    /// Adds a line without a prefix.
    mutating func remark(_ text: Advice) { sentences.append((.remark, text)) }

    /// Whether there is something for standard error.
    var hasErrors: Bool { errorJSON != nil || !sentences.isEmpty }

    /// The lines for standard error, without the LF and safe for a terminal. Commands contain no-break spaces.
    var notes: [String] {
        sentences.map { start, text in
            let parts = text.repeating(socket: socket).parts
            return start.rawValue
                + sanitizedLine(parts.map { $0.kind == .command ? unbroken($0.text) : $0.text }.joined())
        }
    }

    /// Returns the notes with line ends, wrapped to the width of a terminal.
    func errorText(columns: Int?) -> String {
        errorJSON ?? notes.map { errorLines($0, columns: columns) }.joined()
    }

    private static func line(_ value: some JSONEncodable) -> [UInt8] {
        var json = JSONWriter()
        json.value(value)
        json.newline()
        return json.bytes
    }
}

/// Returns a command with no-break spaces, so that users can copy it from one line of a wide enough message.
func unbroken(_ command: String) -> String {
    command.split(separator: " ", omittingEmptySubsequences: false).joined(separator: "\u{A0}")
}

/// Returns a line of standard error with the final LF, wrapped to the width of a terminal.
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
    func report<Value: WireValue>(
        _ reply: Reply<Value>, status: ExitStatus = .done, freshness: Freshness? = nil, source: String = "",
        nothing: Advice? = nil, show: (inout Screen) -> Void = { _ in }
    ) -> Report {
        report(
            reply.json, schema: Value.schema, status: status, freshness: freshness, source: source, nothing: nothing,
            show: show)
    }

    /// Reports a result as lines, or as JSON with `--json`. `schema` is for `--format`. `nothing` is the advice for a
    /// result without items. Only such a report names the problem of its source.
    func report(
        _ json: EncodedJSON, schema: @autoclosure () -> Schema = .any, status: ExitStatus = .done,
        freshness: Freshness? = nil, source: String = "",
        nothing: Advice? = nil, show: (inout Screen) -> Void = { _ in }
    ) -> Report {
        let status = nothing == nil ? status : .nothing
        if settings.json { return Report(json: json, status: status) }
        var screen = Screen(layout: layout)
        if nothing == nil { show(&screen) }
        var report = Report(output: screen.text, status: status)
        if let template = settings.format {
            do throws(Failure) {
                report = Report(output: try template.lines(of: json.tree, schema()), status: status)
            } catch {
                return Report(error, json: false)
            }
        }
        guard let nothing else { return report }
        report.note(nothing)
        // A later fetch cannot succeed without the key, so the state of the source is left out.
        if let freshness, freshness.error?.kind != .credentials, let concern = freshness.concern(now: system.now) {
            report.note("\(value: source): \(value: concern)")
        }
        return report
    }
}
