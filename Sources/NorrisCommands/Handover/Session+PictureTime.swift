extension Session {
    /// How long a program may take to fetch or draw a picture: its own time, or what is left of the user's.
    func pictureTime(_ own: Duration) -> Duration {
        settings.hasTimeout ? max(min(own, timeLeft), .zero) : own
    }

    /// Why such a program did not come to its end.
    func unfinished(_ program: String, _ outcome: SubprocessOutcome) -> Failure {
        var failure = Failure.unfinished(program, outcome)
        if outcome == .timedOut, settings.hasTimeout {
            failure.hint = "Allow more time: --timeout 1m"
        }
        return failure
    }
}
