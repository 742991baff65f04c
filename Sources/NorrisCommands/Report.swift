import NorrisProtocol
import NorrisTerminal
import NorrisText

/// What a command leaves behind: content, words beside it, and a status.
package struct Report: Equatable, Sendable {
    /// For standard output.
    package var output: [UInt8] = []

    /// For standard error: whole lines without their ends, safe for a terminal.
    package private(set) var notes: [String] = []

    package var status: ExitStatus

    /// Whether it stands in a prompt, which goes on whatever has happened.
    var isForPrompt = false {
        didSet { status = isForPrompt ? .done : status }
    }

    init(status: ExitStatus = .done) {
        self.status = status
    }

    /// Lines for a person.
    init(_ screen: Screen, status: ExitStatus = .done) {
        self.init(status: status)
        output = Array(screen.text.utf8)
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
            notes = [String(decoding: Self.line(response).dropLast(), as: UTF8.self)]
        } else {
            add(failure)
        }
    }

    /// What a command comes to in a session.
    init(of session: Session, _ run: (Session) throws(Failure) -> Report) {
        do throws(Failure) {
            self = try run(session)
        } catch {
            self.init(error, json: session.settings.json)
        }
    }

    /// Adds a failure in words; what else there is stays.
    mutating func add(_ failure: Failure) {
        status = failure.status
        note(failure.message)
        hint(failure.hint?.text)
        for step in failure.steps {
            hint(step)
        }
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
    mutating func note(_ message: String) {
        notes.append("norrisctl: " + sanitizedLine(message))
    }

    /// Adds what to do about the line before.
    mutating func hint(_ text: String?) {
        guard let text, !text.isEmpty else { return }
        notes.append("  " + sanitizedLine(text))
    }

    /// Adds a line that is neither: what has to be said beside the content.
    mutating func remark(_ text: String) {
        notes.append(sanitizedLine(text))
    }

    private static func line(_ value: some JSONEncodable) -> [UInt8] {
        var json = JSONWriter()
        json.value(value)
        json.newline()
        return json.bytes
    }
}
