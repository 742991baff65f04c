/// A program to be run beside norrisctl: its arguments go to it as they are, and no shell sees them.
package struct SubprocessRequest: Equatable, Sendable {
    package enum Input: Equatable, Sendable {
        case nothing
        case bytes([UInt8])
        /// norrisctl's own. SIGINT and SIGQUIT, which keys send, are left to the program.
        case inherited
    }

    package enum Output: Equatable, Sendable {
        case discarded
        /// Kept up to so many bytes; a program that writes more is ended.
        case collected(limit: Int)
        /// norrisctl's own, a terminal. The bytes are written to it unless the program ends with status 0.
        case terminal(reset: [UInt8])
    }

    /// A path, or a name to be looked for in the folders of `PATH`.
    package var program: String
    package var arguments: [String]
    package var input: Input
    /// Standard output; standard error is discarded, since it may quote what came from the net.
    package var output: Output
    /// nil waits for ever.
    package var timeout: Duration?
    /// Whether a program that takes longer is left alone, not ended.
    package var mayGoOn: Bool

    package init(
        program: String,
        arguments: [String],
        input: Input = .nothing,
        output: Output = .discarded,
        timeout: Duration? = nil,
        mayGoOn: Bool = false
    ) {
        self.program = program
        self.arguments = arguments
        self.input = input
        self.output = output
        self.timeout = timeout
        self.mayGoOn = mayGoOn
    }
}

/// What became of a program.
package enum SubprocessOutcome: Equatable, Sendable {
    /// It is not at its path, or in no folder of `PATH`.
    case missing
    /// The system refused, with this `errno`.
    case notStarted(errno: Int32)
    /// - Parameter status: 128 and the signal's number for one that a signal ended, as shells have it.
    case ended(status: Int32, output: [UInt8] = [])
    /// It was ended because it wrote more than the limit.
    case tooLarge
    /// It was ended because its time was over.
    case timedOut
    /// It was ended because norrisctl is to end itself.
    case interrupted
    /// Its time is over, and it was left alone.
    case goesOn
}
