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
    let fix: Advice?

    /// What the process ends with if this is the first failure.
    let status: ExitStatus

    static func ok(_ subject: String, _ message: String) -> Check {
        Check(outcome: .ok, subject: subject, message: message, fix: nil, status: .done)
    }

    static func warn(_ subject: String, _ message: String, fix: Advice?) -> Check {
        Check(outcome: .warn, subject: subject, message: message, fix: fix, status: .done)
    }

    static func fail(_ subject: String, _ failure: Failure) -> Check {
        Check(
            outcome: .fail,
            subject: subject,
            message: failure.message,
            fix: failure.hint,
            status: failure.status
        )
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
