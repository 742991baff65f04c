import NorrisProtocol
import NorrisTerminal

/// What `norrisctl doctor` says of the sources: of the network where it keeps them all from their upstreams, else of
/// each one.
struct SourceChecks {
    let sources: [SourceStatus]
    let now: Timestamp
    let commands: DaemonCommands

    var checks: [Check] {
        guard let (source, failure) = networkFailure else { return sources.map(check) }
        let network = Check.warn(
            "network",
            "No source can be fetched: \(source) is \(failure.summary(now: now)).",
            fix: """
                Look at the way out: \
                \(command: "resolvectl query api.chucknorris.io; curl -I https://api.chucknorris.io"); \
                or set http.proxy in the configuration, then: \(command: "norrisctl reload")
                """
        )
        return [network] + sources.filter { !$0.isCutOff }.map(check)
    }

    /// The newest failure where every source that is fetched fails before an answer comes.
    private var networkFailure: (source: String, failure: SourceFailure)? {
        // One without its key is not fetched at all.
        let fetched = sources.filter { $0.isEnabled && $0.freshness.error?.kind != .credentials }
        guard fetched.allSatisfy(\.isCutOff) else { return nil }
        return fetched.compactMap { source in source.freshness.error.map { (source.name, $0) } }
            .max { $0.1.since < $1.1.since }
    }

    private func check(_ source: SourceStatus) -> Check {
        let subject = "source \(source.name)"
        let freshness = source.freshness
        guard source.isEnabled else { return .ok(subject, "It is turned off; \(stored(source)).") }
        // When it is tried again stands in the fix.
        guard let concern = freshness.error?.summary(now: now) ?? freshness.concern(now: now) else {
            return .ok(subject, "\(stored(source)).")
        }
        let lacksKey = source.kind == "giphy" && freshness.error?.kind == .credentials
        return .warn(subject, "It is \(concern).", fix: lacksKey ? commands.gifKey : retry(source))
    }

    private func stored(_ source: SourceStatus) -> String {
        "\(countText(source.items, "item")) \(source.items == 1 ? "is" : "are") stored"
    }

    /// When it is tried again; where that is not known, how to do it now.
    private func retry(_ source: SourceStatus) -> Advice? {
        if let time = source.freshness.error?.retryAt ?? source.nextRunAt {
            return "Next try \(upcomingTime(of: time, at: now))."
        }
        return shellCommand(["norrisctl", "refresh", source.name, "--wait"]).map { "Try now: \(command: $0)" }
    }
}

extension SourceStatus {
    /// Whether it fails before its upstream has said anything.
    fileprivate var isCutOff: Bool {
        guard isEnabled, let kind = freshness.error?.kind else { return false }
        return kind == .offline || kind == .timeout
    }
}
