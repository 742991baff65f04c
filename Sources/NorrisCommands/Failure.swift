package import NorrisProtocol

/// Why a command failed: what is said about it, and the exit status.
package struct Failure: Error, Equatable {
    package var status: ExitStatus

    /// One sentence.
    package var message: String

    /// What to do, best of all a command.
    package var hint: String?

    /// The daemon's own words, where it answered with an error.
    package var response: ResponseError?

    package init(_ status: ExitStatus, _ message: String, hint: String? = nil, response: ResponseError? = nil) {
        self.status = status
        self.message = message
        self.hint = hint
        self.response = response
    }
}
