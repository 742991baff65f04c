package import NorrisProtocol

extension Event {
    /// Whose event it is: the source's, or norrisd's own.
    var subject: String { source ?? "norrisd" }

    /// What happened, in a few words; an event from a newer daemon in its own.
    package var summary: String {
        switch (topic, phase) {
        case (.source, .finished?): "finished" + (items.map { ": \(countText($0, "item"))" } ?? "")
        case (.source, .failed?): "failed" + (error.map { ": \($0.outlook(now: at))" } ?? "")
        case (.item, _): added.map { "\(groupedDigits($0)) new" } ?? "new items"
        default: phase?.rawValue ?? topic.rawValue
        }
    }

    var style: Style {
        switch phase {
        case .finished?, .ok?, .reloaded?: .good
        case .failed?, .degraded?, .stopping?: .warning
        default: .normal
        }
    }
}

extension SourceFailure {
    /// What is wrong, and when it is tried again where that is known.
    package func outlook(now: Timestamp) -> String {
        guard let retryAt else { return summary(now: now) }
        return "\(summary(now: now)); next try \(upcomingTime(of: retryAt, at: now))"
    }
}
