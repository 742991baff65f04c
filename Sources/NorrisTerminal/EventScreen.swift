package import NorrisProtocol
import NorrisText

extension Screen {
    /// One event: the time of day, the source and the text. In a pipe the whole time in UTC, separated by tabs.
    /// On a terminal, the titles of new items follow.
    ///
    /// - Parameters:
    ///   - time: the local time of day.
    ///   - width: the columns of the longest source so far.
    package mutating func event(_ event: Event, time: String, width: inout Int) {
        let subject = Span(event.source ?? "norrisd", .bold)
        let summary = Span(event.summary, event.style)
        if layout.width == nil {
            fields([Span(event.at.description, .dim), subject, summary])
        } else {
            width = max(width, subject.width, 8)
            entry([(Span(time, .dim), 8), (subject, width)], summary)
            if event.topic == .item { titles(event.items?.new ?? []) }
        }
    }

    /// The titles of new items, each on one line, which is truncated to the width.
    private mutating func titles(_ items: [Event.NewItem]) {
        let indent = 10
        for title in items.prefix(Event.Items.maximumNew).map({ sanitizedLine($0.title) }) where !title.isEmpty {
            line([.spaces(indent), Span(truncated(title, toColumns: (layout.width ?? indent) - indent))])
        }
    }
}

extension Event {
    /// A short text for the event; the phase itself for an unknown event of a newer daemon.
    package var summary: String {
        switch (topic, phase) {
        case (.source, .finished?): "finished" + (items?.count.map { ": \(countText($0, "item"))" } ?? "")
        case (.source, .failed?): "failed" + (error.map { ": \($0.outlook(now: at))" } ?? "")
        case (.item, _): added.map { "\(groupedDigits($0)) new" } ?? "new items"
        case (.read, _): unread.map { "\(groupedDigits($0)) unread" } ?? "unread posts changed"
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
