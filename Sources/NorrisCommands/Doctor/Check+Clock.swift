import NorrisProtocol
import NorrisTerminal

extension Check {
    /// How much later than now a moment that has passed may seem, in seconds: the daemon was asked after the clock was
    /// read, and may have fetched meanwhile.
    private static let tolerance: Int64 = 300

    /// Whether the clock can be right; certificates and schedules need it.
    ///
    /// - Parameter sources: of the daemon on the same machine, so that what it has fetched lies in the past.
    static func clock(_ now: Timestamp, sources: [SourceStatus]) -> Check {
        let fix: Advice = "Set it: \(command: "timedatectl set-ntp true")"
        if now < NorrisVersion.beginningOfYear {
            return .warn("clock", "It says \(now), which is before norrisctl was made.", fix: fix)
        }
        let latest = sources.compactMap(\.freshness.fetchedAt).max()
        if let latest, latest.seconds > now.seconds + tolerance {
            let age = relativeTime(of: latest, at: now)
            return .warn("clock", "It was set back: by it a source was last fetched \(age).", fix: fix)
        }
        return .ok("clock", "It says \(now).")
    }
}
