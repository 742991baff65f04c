/// How long to wait after failures in a row: full jitter, so that those who failed together do not come back together
/// (Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
enum Backoff {
    static let base = Duration.seconds(4)
    static let cap = Duration.seconds(3600)

    /// A wait between one second and the limit for so many failures, which doubles from ``base`` up to ``cap``.
    static func delay(failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        .seconds(Int64.random(in: 1...limit(failures: failures).components.seconds, using: &generator))
    }

    static func limit(failures: Int) -> Duration {
        // Past this many doublings any base is above the cap.
        let doublings = min(max(failures, 1) - 1, 16)
        return min(cap, base * (1 << doublings))
    }
}
