import NorrisProtocol

/// Why a command failed: what is said about it, and the exit status.
struct Failure: Error, Equatable {
    var status: ExitStatus

    /// One sentence.
    var message: String

    /// What to do, best of all a command.
    var hint: Advice?

    /// Further lines below the hint, where one command does not do.
    var steps: [String] = []

    /// The daemon's own words, where it answered with an error.
    var response: ResponseError?

    init(_ status: ExitStatus, _ message: String, hint: Advice? = nil, response: ResponseError? = nil) {
        self.status = status
        self.message = message
        self.hint = hint
        self.response = response
    }
}
