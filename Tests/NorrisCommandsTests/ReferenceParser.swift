import NorrisArguments
@testable import NorrisCommands

/// A slow, independent parser that works on whole lists and knows the options only from their descriptions.
struct ReferenceParser {
    struct Meaning: Equatable {
        var command: [String] = []
        /// Long names with their values, in order. A flag has no value.
        var options: [Pair] = []
        var positionals: [String] = []
        var wantsHelp = false
        var wantsVersion = false

        struct Pair: Equatable {
            let name: String
            let value: String?
        }

        var spelledOut: [String] {
            let words = options.map { pair in "--\(pair.name)" + (pair.value.map { "=\($0)" } ?? "") }
            return command + words + ["--"] + positionals
        }
    }

    struct Wrong: Error {}

    private var meaning = Meaning()
    private var type: any SessionCommand.Type = Norrisctl.self
    private var rest: [String]
    private var hasEnded = false
    private var items: [Description]

    static func meaning(of words: [String]) -> Meaning? {
        var parser = ReferenceParser(rest: words)
        do {
            try parser.run()
            return parser.meaning
        } catch {
            return nil
        }
    }

    private init(rest: [String]) {
        self.rest = rest
        items = Self.items(of: type)
    }

    private static func items(of type: any SessionCommand.Type) -> [Description] {
        var settings = Settings()
        var command = type.init()
        return CommandArguments.descriptions { settings.declare(&$0) }
            + CommandArguments.descriptions { command.declare(&$0) }
    }

    private mutating func run() throws {
        while !rest.isEmpty, !meaning.wantsVersion {
            let word = rest.removeFirst()
            let bytes = Array(word.utf8)
            if hasEnded || bytes.first != 0x2D || bytes.count == 1 {
                try take(word)
            } else if bytes == [0x2D, 0x2D] {
                hasEnded = true
            } else if bytes[1] == 0x2D {
                let name = bytes.dropFirst(2).prefix { $0 != UInt8(ascii: "=") }
                let isOptionLike = name.allSatisfy { $0 == 0x2D || (0x61...0x7A).contains($0) }
                if type.takesIDs, !isOptionLike {
                    try take(word)
                } else {
                    let hasValue = bytes.count > 2 + name.count
                    let value = hasValue ? String(decoding: bytes.dropFirst(3 + name.count), as: UTF8.self) : nil
                    try take(option: items.first { $0.isOption && Array($0.name.utf8) == Array(name) }, value)
                }
            } else {
                try take(letters: word)
            }
        }
        let places = items.filter { !$0.isOption }
        if meaning.wantsVersion || meaning.wantsHelp { return }
        if places.dropFirst(meaning.positionals.count).contains(where: { !$0.isOptional }) { throw Wrong() }
    }

    private mutating func take(letters word: String) throws {
        let scalars = Array(word.unicodeScalars.dropFirst())
        if type.takesIDs, scalars.count > 1 || !items.contains(where: { $0.short == scalars[0] }) {
            return try take(word)
        }
        for (index, letter) in scalars.enumerated() where !meaning.wantsVersion {
            let item = items.first { $0.short == letter }
            var behind = String.UnicodeScalarView()
            behind.append(contentsOf: scalars[(index + 1)...])
            if let item, item.takesValue {
                if behind.first == "=" { behind.removeFirst() }
                return try take(option: item, index + 1 < scalars.count ? String(behind) : nil)
            }
            try take(option: item, behind.first == "=" ? "" : nil)
            // `take` has already refused the equals sign with the flag.
            if behind.first == "=" { return }
        }
    }

    private mutating func take(option item: Description?, _ attached: String?) throws {
        guard let item else { return try refuse() }
        guard item.takesValue else {
            if attached != nil { return try refuse() }
            switch item.name {
            case "help": meaning.wantsHelp = true
            case "version": meaning.wantsVersion = true
            default: meaning.options.append(.init(name: item.name, value: nil))
            }
            return
        }
        guard let value = attached ?? (rest.isEmpty ? nil : rest.removeFirst()) else { return try refuse() }
        guard isValid(value, item) else { return try refuse() }
        meaning.options.append(.init(name: item.name, value: value))
    }

    private mutating func take(_ word: String) throws {
        if !type.commands.isEmpty {
            if word == "help" { return meaning.wantsHelp = true }
            guard let command = type.commands.first(where: { ($0.aliases + [$0.name]).contains(word) }) else {
                throw Wrong()
            }
            (type, items) = (command, Self.items(of: command))
            // Options of `feed` before its subcommand have no effect.
            var settings = Settings()
            let common = CommandArguments.descriptions { settings.declare(&$0) }.map(\.name)
            meaning.options.removeAll { !common.contains($0.name) }
            meaning.command.append(command.name)
            return
        }
        let places = items.filter { !$0.isOption }
        let place = meaning.positionals.count
        guard let item = place < places.count ? places[place] : places.last(where: \.isRepeating) else {
            return try refuse()
        }
        // An invalid word also counts as a positional argument. The count matters only after `--help`.
        meaning.positionals.append(word)
        if !isValid(word, item) { try refuse() }
    }

    /// Ends the parse. After `--help` the parse continues.
    private func refuse() throws {
        if !meaning.wantsHelp { throw Wrong() }
    }

    private func isValid(_ value: String, _ item: Description) -> Bool {
        // Kinds of items have plurals.
        if item.kind == .kind, item.choices.first == "fact" {
            return ["fact", "facts", "gif", "gifs", "post", "posts"].contains(value)
        }
        if !item.choices.isEmpty { return item.choices.contains { Array($0.utf8) == Array(value.utf8) } }
        switch item.rule {
        case "": return true
        case "a whole number": return Int(value) != nil
        case "a number of the last list": return Int(value).map { (1...100).contains($0) } ?? false
        case "text with fields in braces": return Template(value) != nil
        case "1 to 24 characters":
            let line = value.filter { !$0.unicodeScalars.allSatisfy { $0.value < 0x20 } }
            return (1...24).contains(line.count)
        case "1 to 40 characters of a-z, 0-9, _ and -":
            return (1...40).contains(value.utf8.count)
                && value.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789_-".utf8.contains($0) }
        case let rule where rule.hasPrefix("a whole number with a unit"):
            let bytes = Array(value.utf8)
            return (2...10).contains(bytes.count) && bytes.dropLast().allSatisfy { (0x30...0x39).contains($0) }
                && "smhd".utf8.contains(bytes[bytes.count - 1])
        case let rule where rule.hasPrefix("a number above zero"): return Timeout(value) != nil
        default:
            let bounds = item.rule.split(separator: " ").compactMap { Int($0) }
            return Int(value).map { bounds[0] <= $0 && $0 <= bounds[1] } ?? false
        }
    }
}
