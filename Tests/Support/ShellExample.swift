import NorrisArguments

extension NorrisArguments.Description {
    /// `--category name`, `-h, --help`, `id` or `query ...`, as in manual pages.
    package var signature: String {
        guard isOption else { return name + (isRepeating ? " ..." : "") }
        return (short.map { "-\($0), " } ?? "") + "--\(name)" + (takesValue ? " \(kind.name)" : "")
    }
}

/// An example of shell command lines in a document.
package enum ShellExample {
    /// The arguments of each run of a program, up to the next pipe, redirection or `&&`.
    ///
    /// Understands only words, quotation marks and `"$(…)"`.
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
