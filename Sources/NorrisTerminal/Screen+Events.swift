package import NorrisProtocol

extension Screen {
    /// One event: its time of day in UTC, whose it is, and what happened; to a pipe the whole time and tabs between.
    package mutating func event(_ event: Event) {
        let time = event.at.description
        let subject = Span(event.subject, .bold)
        let summary = Span(event.summary, event.style)
        if layout.width == nil {
            fields([Span(time, .dim), subject, summary])
        } else {
            // A time is always 20 characters long; whoever watches knows the day.
            entry([(Span(String(time.suffix(9)), .dim), 9), (subject, 8)], summary)
        }
    }
}
