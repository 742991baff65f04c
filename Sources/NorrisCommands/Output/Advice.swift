/// What to do about something, in one sentence: words, and among them commands, which a page shows on lines of their
/// own so that they can be copied.
///
/// Written as a text: `"Have it written: \(command: "norrisd")"`.
struct Advice: Equatable {
    enum Part: Equatable {
        case words(String), command(String)

        var text: String {
            switch self {
            case .words(let text), .command(let text): text
            }
        }
    }

    private(set) var parts: [Part] = []

    init(_ words: String) {
        add(.words(words))
    }

    /// All of it in one line.
    var text: String { parts.map(\.text).joined() }

    /// Neighbouring words become one part.
    private mutating func add(_ part: Part) {
        if case .words(let next) = part, case .words(let last)? = parts.last {
            parts[parts.count - 1] = .words(last + next)
        } else if !part.text.isEmpty {
            parts.append(part)
        }
    }
}

extension Advice: ExpressibleByStringInterpolation {
    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var advice = Advice("")

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) {
            advice.add(.words(literal))
        }

        mutating func appendInterpolation(_ value: some Any) {
            advice.add(.words("\(value)"))
        }

        mutating func appendInterpolation(_ other: Advice) {
            other.parts.forEach { advice.add($0) }
        }

        mutating func appendInterpolation(command: String) {
            advice.add(.command(command))
        }
    }

    init(stringLiteral words: String) {
        self.init(words)
    }

    init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.advice
    }
}
