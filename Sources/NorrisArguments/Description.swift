import NorrisText

/// An option or argument of a command, for its help page, completion and manual page.
package struct Description {
    /// The long name; nil for an argument identified by its position.
    private(set) var long: String?
    package private(set) var short: Unicode.Scalar?
    package let kind: ValueKind
    package let summary: String
    /// The rule of a value without choices.
    private(set) var takes = ""
    /// All valid values; empty if they are not known.
    package private(set) var choices: [String] = []
    /// Whether an argument may be omitted.
    package private(set) var isOptional = false
    package private(set) var isRepeating = false

    package var isOption: Bool { long != nil }
    package var takesValue: Bool { kind != .flag }
    package var name: String { long ?? kind.name }
    /// Completes the sentence "it takes …."; empty for any text.
    package var rule: String { choices.isEmpty ? takes : alternatives(choices) }
    /// `--limit <n>`, or `<query>`.
    package var label: String {
        let value = takesValue ? "<\(kind.name)>" : ""
        return long.map { "--\($0)" + (takesValue ? " " + value : "") } ?? value
    }
}

/// The meaning of a value, which decides how Tab completes it. Programs add their own kinds as static members.
package struct ValueKind: Equatable, Sendable {
    /// The value's name on help pages.
    package let name: String
    /// The value's name in the question for a missing argument: "Which post?"
    package let noun: String
    /// A sentence about the source of such values, for errors.
    package let origin: String
    /// Whether a surplus argument is probably such a value, such as `dev` of `norrisctl fact dev`.
    package let takesSurplus: Bool

    package init(_ name: String, noun: String? = nil, _ origin: String = "", takesSurplus: Bool = false) {
        (self.name, self.noun, self.origin, self.takesSurplus) = (name, noun ?? name, origin, takesSurplus)
    }

    /// No value.
    package static var flag: ValueKind { ValueKind("") }
    package static var number: ValueKind { ValueKind("n") }
    package static var file: ValueKind { ValueKind("file") }
    package static var path: ValueKind { ValueKind("path") }
}

/// A fault of a command line.
package struct UsageError: Error, Equatable {
    package let message: String
    /// The option that the user probably meant, with the surplus argument as its value.
    private let instead: String?
    /// The word that resembles no name, for which the command may know what the user meant.
    package let unknown: String?

    package init(_ message: String, instead: String? = nil, unknown: String? = nil) {
        (self.message, self.instead, self.unknown) = (message, instead, unknown)
    }

    /// The message, with the command line that the user probably meant.
    package func text(of command: String) -> String {
        message + (instead.map { " Did you mean '\(command) \($0)'?" } ?? "")
    }
}

/// ` Did you mean 'a' or 'b'?`, with names as users spell them; empty if no name resembles the word.
package func suggestion(of names: [String], for word: String, _ spell: (String) -> String) -> String {
    let near = names.filter { isNear(word, $0) }.map { "'\(spell($0))'" }
    return near.isEmpty ? "" : " Did you mean \(alternatives(near))?"
}

/// `a, b or c`.
package func alternatives(_ words: [String]) -> String {
    words.count < 2 ? words.joined() : "\(words.dropLast().joined(separator: ", ")) or \(words[words.count - 1])"
}
