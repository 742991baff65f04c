/// Why there is no card.
package enum CardError: Error, Equatable {
    /// The text has nothing that can be seen.
    case nothingToDraw
    /// There is no font that has letters.
    case noFont
    /// The text has more characters than any fact.
    case tooLong
    /// The text has more lines than a picture can be high.
    case tooTall
    /// The input is no fact; the text says why.
    case noFact(String)
    /// A library gave up; the text says which and why.
    case failed(String)

    /// One sentence that names the thing and what mends it.
    package var message: String {
        switch self {
        case .nothingToDraw: "The fact's text shows nothing; give one with letters."
        case .noFont: "No font is installed; install one, such as Debian's fonts-inter."
        case .tooLong: "The fact's text is longer than \(CardText.maximumLength) characters; shorten it."
        case .tooTall: "The fact's text has too many lines for one picture; shorten it."
        case .noFact(let reason): "Standard input is no fact: \(reason)"
        case .failed(let reason): "The picture cannot be drawn: \(reason)"
        }
    }
}
