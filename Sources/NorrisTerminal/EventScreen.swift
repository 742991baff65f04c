package import NorrisProtocol

extension Screen {
    /// One event: its time of day in UTC, whose it is, and what happened; to a pipe the whole time and tabs between.
    package mutating func event(_ event: Event) {
        let time = event.at.description
        let subject = Span(event.source ?? "norrisd", .bold)
        let summary = Span(event.summary, event.style)
        if layout.width == nil {
            fields([Span(time, .dim), subject, summary])
        } else {
            // A time is always 20 characters long; whoever watches knows the day.
            entry([(Span(String(time.suffix(9)), .dim), 9), (subject, 8)], summary)
        }
    }
}

extension Event {
    /// What happened, in a few words; an event from a newer daemon in its own.
    package var summary: String {
        switch (topic, phase) {
        case (.source, .finished?): "finished" + (items.map { ": \(countText($0, "item"))" } ?? "")
        case (.source, .failed?): "failed" + (error.map { ": \($0.outlook(now: at))" } ?? "")
        case (.item, _): added.map { "\(groupedDigits($0)) new" } ?? "new items"
        default: phase?.rawValue ?? topic.rawValue
        }
    }

    fileprivate var style: Style {
        switch phase {
        case .finished?, .ok?, .reloaded?: .good
        case .failed?, .degraded?, .stopping?: .warning
        default: .normal
        }
    }
}
