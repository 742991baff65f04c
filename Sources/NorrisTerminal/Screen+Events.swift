package import NorrisProtocol

extension Screen {
    /// One event: its time, whose it is, and what happened; to a pipe with a tab between them.
    package mutating func event(_ event: Event) {
        let time = Span(event.at.description, .dim)
        let subject = Span(event.subject, .bold)
        let summary = Span(event.summary, event.style)
        if layout.width == nil {
            fields([time, subject, summary])
        } else {
            entry([(time, 20), (subject, 8)], summary)
        }
    }
}
