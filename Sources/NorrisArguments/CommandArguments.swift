/// A command line, or its description: the same declarations of options and arguments serve both.
///
/// A command declares each option and argument with one call of `flag`, `option` or `positional`. ``parse(_:word:)``
/// runs these calls once for each token of the command line, and the call that matches the token reads the value. Code
/// among the declarations therefore runs many times, and must have no effect unless a token matched.
/// ``descriptions(of:)`` runs the calls without a command line, and each of them appends a ``Description``.
///
/// The conventions are those of getopt_long(3), without abbreviations of long names.
package struct CommandArguments {
    /// The purpose of one run of the declarations.
    private enum Pass { case description, long, letter, word, end }

    /// The long names of the options that were found, in order.
    package private(set) var found: [String] = []
    /// The arguments without options and commands, in order.
    package private(set) var positionals: [String] = []
    /// The option at the end of the command line whose value is missing.
    package private(set) var pending: Description?
    /// Whether `--` has ended the options.
    package private(set) var isTerminated = false
    package private(set) var wantsHelp = false
    package private(set) var wantsVersion = false
    /// Whether errors are skipped, as in completion.
    package var isLenient = false
    private let words: [String]
    /// The index of the next word, and the number of positional declarations so far in this pass.
    private var next = 0, slot = 0
    private var pass = Pass.description
    private var isTaken = false
    /// Whether arguments are ids, which may begin with a dash.
    private var takesIDs = false
    /// The long name or the word of the token, and the value after `=`.
    private var text = "", attached: String?
    /// The short option of the token, and the rest of a joined token.
    private var letter: Unicode.Scalar = "-", letters = Substring().unicodeScalars
    private var failure: UsageError?
    private var descriptions: [Description] = []

    /// - Parameter words: the command line without the name of the program.
    package init(_ words: [String]) { self.words = words }

    /// Returns the options and arguments that `declare` declares.
    package static func descriptions(of declare: (inout CommandArguments) -> Void) -> [Description] {
        var arguments = CommandArguments([])
        declare(&arguments)
        return arguments.descriptions
    }

    /// The meaning of a word that no declaration accepts.
    package enum Word { case surplus, help, command(takesIDs: Bool) }

    /// Reads all tokens. `--version` ends the parse, and errors after `--help` are ignored.
    ///
    /// - Parameter word: returns the meaning of a word that no declaration accepts. For the name of a command, selects
    ///   the command, whose options and arguments `declare` declares from then on.
    package mutating func parse(
        _ declare: (inout CommandArguments) -> Void, word: (String) throws(UsageError) -> Word = { _ in .surplus }
    ) throws(UsageError) {
        while !wantsVersion, advance() {
            run(declare)
            if !isTaken, takesIDs, pass == .letter {
                pass = .word
                run(declare)
            }
            if !isTaken {
                switch pass == .word ? try word(text) : .surplus {
                case .command(let takesIDs): self.takesIDs = takesIDs
                case .help: wantsHelp = true
                case .surplus: failure = failure ?? unknown(Self.descriptions(of: declare))
                }
            }
            try check()
        }
        if wantsVersion { return }
        pass = .end
        run(declare)
        try check()
    }

    private mutating func run(_ declare: (inout CommandArguments) -> Void) {
        (isTaken, slot) = (false, 0)
        declare(&self)
    }

    private func check() throws(UsageError) {
        if let failure, !wantsHelp, !isLenient { throw failure }
    }

    /// Whether the declarations run for an option or for ``descriptions(of:)``.
    package var isOption: Bool { pass != .word && pass != .end }

    /// Moves to the next word, long option, or letter of joined short options. Returns false at the end.
    private mutating func advance() -> Bool {
        attached = nil
        if let next = letters.popFirst() {
            letter = next
            return true
        }
        guard next < words.count else { return false }
        text = words[next]
        next += 1
        pass = .word
        let bytes = text.utf8
        guard !isTerminated, bytes.first == UInt8(ascii: "-"), bytes.count > 1 else { return true }
        let second = bytes.index(after: bytes.startIndex)
        if bytes[second] != UInt8(ascii: "-") {
            if takesIDs, bytes.count > 2 { return true }
            (pass, letters) = (.letter, text[second...].unicodeScalars)
            return advance()
        }
        if bytes.count == 2 {
            isTerminated = true
            return advance()
        }
        let end = bytes.firstIndex(of: UInt8(ascii: "=")) ?? bytes.endIndex
        let name = text[bytes.index(after: second)..<end]
        if takesIDs, !name.utf8.allSatisfy({ 0x61...0x7A ~= $0 || $0 == UInt8(ascii: "-") }) { return true }
        if end < bytes.endIndex { attached = String(text[bytes.index(after: end)...]) }
        (pass, text) = (.long, String(name))
        return true
    }

    private func unknown(_ items: [Description]) -> UsageError {
        switch pass {
        case .word:
            let plain = text.utf8.prefix { 0x61...0x7A ~= $0 || "0123456789-_".utf8.contains($0) }
            let option = items.first { $0.isOption && $0.kind.takesSurplus }
            let isPlain = !plain.isEmpty && plain.count == text.utf8.count
            return UsageError(
                "Unexpected argument \(quoted(text)).", instead: isPlain ? option.map { "--\($0.name) \(text)" } : nil)
        case .letter: return UsageError("Unknown option \(quoted("-\(letter)")).")
        default:
            let meant = suggestion(of: items.filter(\.isOption).map(\.name), for: text) { "--" + $0 }
            let unknown = meant.isEmpty ? "--" + text : nil
            return UsageError("Unknown option \(quoted("--" + text)).\(meant)", unknown: unknown)
        }
    }

    /// Declares `--version` and `--help`, which every program accepts.
    package mutating func common() {
        var (help, version) = (false, false)
        flag(&version, "version", short: "V", "Show the version.")
        flag(&help, "help", short: "h", "Show help information.")
        if help { wantsHelp = true }
        if version { wantsVersion = true }
    }

    package mutating func flag(_ value: inout Bool, _ long: String, short: Unicode.Scalar? = nil, _ summary: String) {
        guard isNamed(long, short, Description(long: long, short: short, kind: .flag, summary: summary)) else { return }
        guard attached != nil || letters.first == "=" else { return value = true }
        letters.removeAll()
        fail("The option \(pass == .letter ? "'-\(letter)'" : "'--\(long)'") takes no value.")
    }

    /// - Parameters:
    ///   - rule: completes the sentence "it takes …." of an error.
    ///   - choices: the valid values, which replace `rule`; empty if the values are not known.
    ///   - read: stores the value; returns false if it is invalid.
    package mutating func option(
        _ long: String, short: Unicode.Scalar? = nil, _ kind: ValueKind, _ summary: String,
        takes rule: @autoclosure () -> String = "", choices: @autoclosure () -> [String] = [],
        isRepeating: Bool = false, read: (String) -> Bool
    ) {
        func item() -> Description {
            Description(
                long: long, short: short, kind: kind, summary: summary, takes: rule(), choices: choices(),
                isRepeating: isRepeating)
        }
        guard isNamed(long, short, item()) else { return }
        let text: String
        if let attached {
            text = attached
        } else if pass == .letter, let first = letters.first {
            text = String(first == "=" ? letters.dropFirst() : letters)
            letters.removeAll()
        } else if next < words.count {
            text = words[next]
            next += 1
        } else {
            let (item, origin) = (item(), kind.origin.isEmpty ? "." : ": \(kind.origin)")
            pending = item
            return fail("Missing value for '\(item.label)'\(item.rule.isEmpty ? origin : ": it takes \(item.rule).")")
        }
        if !read(text) { refuse(text, item()) }
    }

    package mutating func option(
        _ value: inout Int?, _ long: String, short: Unicode.Scalar? = nil, _ kind: ValueKind = .number,
        in range: ClosedRange<Int>, _ summary: String
    ) {
        option(
            long, short: short, kind, summary, takes: "a whole number from \(range.lowerBound) to \(range.upperBound)"
        ) { text in
            value = wholeNumber(text)
            return value.map { range.contains($0) } ?? false
        }
    }

    package mutating func option(
        _ value: inout String?, _ long: String, short: Unicode.Scalar? = nil, _ kind: ValueKind, _ summary: String
    ) { option(long, short: short, kind, summary) { assign(&value, $0) } }

    package mutating func option(
        _ values: inout [String], _ long: String, short: Unicode.Scalar? = nil, _ kind: ValueKind, _ summary: String
    ) { option(long, short: short, kind, summary, isRepeating: true) { done(values.append($0)) } }

    /// Declares an argument identified by its position, or all further arguments. For the parameters see `option`.
    package mutating func positional(
        _ kind: ValueKind, _ summary: String, takes rule: @autoclosure () -> String = "",
        choices: @autoclosure () -> [String] = [], isOptional: Bool = false, isRepeating: Bool = false,
        read: (String) -> Bool
    ) {
        func item() -> Description {
            Description(
                kind: kind, summary: summary, takes: rule(), choices: choices(), isOptional: isOptional,
                isRepeating: isRepeating)
        }
        let isFilled = slot < positionals.count
        slot += 1
        switch pass {
        case .word where !isTaken && (!isFilled || isRepeating):
            isTaken = true
            positionals.append(text)
            if !read(text) { refuse(text, item()) }
        case .end where !isOptional && !isFilled:
            let rule = item().rule
            fail("Which \(kind.noun)\(rule.isEmpty ? "? \(kind.origin)" : ": \(rule)?")")
        case .description: descriptions.append(item())
        default: break
        }
    }

    package mutating func positional(_ value: inout String, _ kind: ValueKind, _ summary: String) {
        positional(kind, summary) { done(value = $0) }
    }

    package mutating func positional(_ values: inout [String], _ kind: ValueKind, _ summary: String, isOptional: Bool) {
        positional(kind, summary, isOptional: isOptional, isRepeating: true) { done(values.append($0)) }
    }

    private mutating func isNamed(
        _ long: String, _ short: Unicode.Scalar?, _ item: @autoclosure () -> Description
    ) -> Bool {
        switch pass {
        case .long where !isTaken && long == text, .letter where !isTaken && short == letter:
            isTaken = true
            found.append(long)
            return true
        case .description: descriptions.append(item())
        default: break
        }
        return false
    }

    private mutating func refuse(_ text: String, _ item: Description) {
        let meant = suggestion(of: item.choices, for: text) { $0 }
        fail(
            "The value \(quoted(text)) is invalid for '\(item.label)': it takes \(item.rule).\(meant)",
            unknown: meant.isEmpty ? (item.long.map { "--\($0) " } ?? "") + text : nil)
    }

    private mutating func fail(_ message: String, unknown: String? = nil) {
        failure = failure ?? UsageError(message, unknown: unknown)
    }
}

/// Reads a whole number without a plus sign.
package func wholeNumber(_ text: String) -> Int? { text.utf8.first == UInt8(ascii: "+") ? nil : Int(text) }

/// Stores the value of an option or argument. Returns false for nil, which represents an invalid value.
package func assign<Value>(_ place: inout Value?, _ value: Value?) -> Bool {
    place = value
    return value != nil
}

extension CaseIterable where Self: RawRepresentable<String> {
    /// The raw values of all cases, as choices of an option or argument.
    package static var words: [String] { allCases.map { $0.rawValue } }
}

/// Returns the words of options with a value: `--limit 5`.
package func optionWords(_ options: (name: String, value: String?)...) -> [String] {
    options.flatMap { option in option.value.map { [option.name, $0] } ?? [] }
}

package func flagWords(_ flags: [(name: String, isSet: Bool)]) -> [String] { flags.filter(\.isSet).map(\.name) }

/// Returns true after the evaluation of the argument.
private func done(_: Void) -> Bool { true }
/// Quotes a word for a message, truncated to 80 code points so that a hostile word cannot fill the terminal.
private func quoted(_ word: String) -> String {
    "'\(String(word.unicodeScalars.prefix(80)))\(word.unicodeScalars.dropFirst(80).isEmpty ? "" : "…")'"
}
