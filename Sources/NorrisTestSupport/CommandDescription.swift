import Foundation

/// What a program says of its own command line, by `--experimental-dump-help`.
package struct CommandDescription: Decodable, Sendable {
    package let commandName: String
    /// What `--help` says below the first line.
    package let discussion: String?
    package let arguments: [Argument]?
    package let subcommands: [CommandDescription]?

    package struct Argument: Decodable, Sendable {
        let kind: String
        let names: [Name]?
        let valueName: String?
        let isRepeating: Bool

        struct Name: Decodable {
            let kind: String
            let name: String
        }

        /// `--category name`, `-h, --help`, `id` or `query ...`, as manual pages have it.
        package var signature: String {
            let names = (names ?? []).map { ($0.kind == "short" ? "-" : "--") + $0.name }.sorted { $0.count < $1.count }
            let value = valueName ?? ""
            return switch kind {
            case "positional": isRepeating ? value + " ..." : value
            case "option": names.joined(separator: ", ") + " " + value
            default: names.joined(separator: ", ")
            }
        }
    }

    /// - Parameter dump: what the program printed.
    package init(dump: String) throws {
        struct Dump: Decodable {
            let command: CommandDescription
        }
        self = try JSONDecoder().decode(Dump.self, from: Data(dump.utf8)).command
    }

    /// The lines below `Examples:`.
    package var examples: String {
        let parts = (discussion ?? "").components(separatedBy: "Examples:\n")
        return parts.count == 2 ? parts[1] : ""
    }
}

/// An example of command lines, as documents show them to be typed into a shell.
package enum ShellExample {
    /// The arguments of each run of a program: between its name and the next pipe, redirection or `&&`.
    ///
    /// Knows words, quotation marks and `"$(…)"`, and nothing else of a shell.
    package static func runs(of program: String, in text: String) -> [[String]] {
        text.split(separator: "\n").flatMap { line in
            words(String(line)).split { $0.isOperator }.compactMap { command in
                guard command.first?.text == program else { return nil }
                return command.dropFirst().map(\.text)
            }
        }
    }

    private struct Word {
        var text = ""
        var isOperator = false
    }

    private static func words(_ line: String) -> [Word] {
        var words: [Word] = []
        var word: Word?
        var quote: Character?
        func end() {
            if let word { words.append(word) }
            word = nil
        }
        for character in line.replacing("\"$(", with: " ; ").replacing(")\"", with: " ; ") {
            switch (character, quote) {
            case (let mark, let open?) where mark == open: quote = nil
            case (_, _?): word?.text.append(character)
            case ("'", nil), ("\"", nil):
                quote = character
                word = word ?? Word()
            case (" ", nil): end()
            case ("|", nil), ("&", nil), (";", nil), (">", nil), ("<", nil):
                end()
                words.append(Word(isOperator: true))
            default: word = Word(text: (word?.text ?? "") + String(character))
            }
        }
        end()
        return words
    }
}
