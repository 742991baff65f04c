import Glibc

extension Failure {
    /// - Parameter packages: of Debian, with a space between them.
    static func missing(_ program: String, packages: String) -> Failure {
        Failure(.unavailable, "\(program) is not installed.", hint: "apt install \(packages)")
    }

    /// A program that could not be started, or was ended before its time.
    static func unfinished(_ program: String, _ outcome: SubprocessOutcome) -> Failure {
        switch outcome {
        case .notStarted(let errno):
            Failure(.unavailable, "\(program) cannot be started: \(String(cString: strerror(errno))).")
        case .timedOut:
            Failure(.unavailable, "\(program) took too long, and was ended.")
        case .ended, .goesOn, .interrupted, .missing, .tooLarge:
            Failure(.unavailable, "\(program) was ended.")
        }
    }
}
