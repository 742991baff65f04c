import NorrisArguments
import NorrisCommands
import NorrisDaemon
import NorrisProtocol
import NorrisText

/// The parts of manual pages that follow from declarations, in the language of mdoc(7).
enum ManualPart {
    private typealias Option = NorrisArguments.Description

    /// - Returns: the lines for a line `.\" insert NAME`; nil for any other line.
    static func replacement(of line: String) -> String? {
        let insert = #".\" insert "#
        guard line.hasPrefix(insert) else { return nil }
        let words = line.dropFirst(insert.count).split(separator: " ").map(String.init)
        return switch words.first {
        case "options": list(CommandList.options.map(item))
        case "commands": commands
        case "statuses": list(CommandList.statuses.map { ".It \($0.status)\n\($0.meaning)\n" })
        case "keys": list(ConfigurationSchema.reference.filter { words.contains($0.section) }.map(item))
        case "kinds": list(PostSourceKind.allCases.map { ".It Cm \(escaped($0.rawValue))\n\(escaped($0.summary))\n" })
        case "events": list(MessageID.all.map { ".It Ql \($0.event)\n\(escaped($0.meaning))\n.br\n\($0.id)\n" })
        default: fatalError("There is no part for the line \(line)")
        }
    }

    // MARK: norrisctl(1)

    private static var commands: String {
        let commands = CommandList.all
        let uses = Dictionary(grouping: commands.flatMap(\.items).filter(\.isOption), by: item).filter { $1.count > 2 }
        let parts = commands.map { name, aliases, help, items in
            let own = items.filter { uses[item($0)] == nil }
            let others = items.filter { uses[item($0)] != nil }.map { "--\($0.name)" }
            let also = others.isEmpty ? [] : ["Also takes \(others.joined(separator: ", ")); see above."]
            let arguments = items.filter { !$0.isOption }.map { argument in
                let name = argument.name + (argument.isRepeating ? " ..." : "")
                return argument.isOptional ? "[\(name)]" : name
            }
            let title = ([([name] + aliases).joined(separator: ", ")] + arguments).joined(separator: " ")
            return ".Ss \(title)\n\(text([help.abstract] + help.prose + also))"
                + (own.isEmpty ? "" : "\n" + list(own.map(item)))
        }
        return ([".Ss Options of several commands\n" + list(uses.keys.sorted())] + parts).joined(separator: "\n")
    }

    /// An option or argument, with the values that it takes.
    private static func item(_ option: Option) -> String {
        let value = option.takesValue ? ["Ar \(option.kind.name)"] : []
        let names = option.isOption ? ["Fl \(option.short.map { "\($0) , " } ?? "")-\(option.name)"] : []
        let numbers = option.rule.split(separator: " ").filter { Int($0) != nil }.map(String.init)
        let isTold = (option.choices.isEmpty ? numbers : option.choices).allSatisfy(option.summary.contains)
        let rule = option.rule.replacing("a whole number from ", with: "")
        let more = option.isRepeating && !option.isOption ? ["..."] : []
        return ".It \((names + value + more).joined(separator: " "))\n"
            + text([option.summary + (isTold ? "" : " It takes \(rule).")]) + "\n"
    }

    /// Lines of help, with each sentence on a separate line.
    private static func text(_ lines: [String]) -> String {
        lines.split(separator: "").map { paragraph in
            let prose = paragraph.prefix { !$0.hasPrefix(" ") }
            let example = paragraph.dropFirst(prose.count).map { escaped(String($0.dropFirst(2))) }
            // A remark in parentheses belongs to the sentence before it.
            let sentences = prose.joined(separator: " ").replacing(". ", with: ".\n").replacing(".\n(", with: ". (")
            return
                (wrapped(sentences, width: 110).map(escaped)
                + (example.isEmpty ? [] : [".Bd -literal -offset indent"] + example + [".Ed"])).joined(separator: "\n")
        }.joined(separator: "\n")
    }

    // MARK: norrisd.conf(5)

    private static func item(_ key: KeyDescription) -> String {
        let ending = key.defaultText.map { ";\nthe default is\n.Ql \(escaped($0)) .\n" } ?? ".\n"
        return ".It Cm \(key.path)\n\(escaped(key.summary))\nTakes \(escaped(key.accepts))\(ending)"
    }

    // MARK: mdoc(7)

    /// - Parameter items: each begins with `.It` and ends with a newline.
    private static func list(_ items: [String]) -> String { ".Bl -tag -width Ds\n\(items.joined()).El" }

    /// A text in a form that is valid in a line of a page (groff_char(7)).
    private static func escaped(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        var isQuotation = false
        while let character = rest.popFirst() {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "\"": result += "\\(dq"
            case "~": result += "\\(ti"
            case "…": result += " to "
            case "`" where isQuotation || rest.contains("`"):
                isQuotation.toggle()
                result += isQuotation ? "\\(lq" : "\\(rq"
            default: result.append(character)
            }
        }
        return result
    }
}
