import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// What a shell's completion script asks for: the words that may stand at the cursor.
///
/// The script runs `norrisctl ---complete norrisctl WORD...` with the words of the line up to the cursor. The last one
/// stands at the cursor, and may be empty or a beginning. The reply is a word a line, with a tab and a summary where
/// there is one, or the one line `/` for the names of files. Words that do not begin like the one at the cursor are
/// among them, for shells have ways of their own to match. In `--category=d` the words are those behind the `=`.
struct Completion {
    /// The first argument of such a call, which is no option of any command.
    static let request = "---complete"

    private let line: TypedLine
    /// The word at the cursor.
    private let current: String
    private let session: Session

    /// - Parameter words: with the program's name.
    init(words: [String], system: System) {
        line = TypedLine(Array(words.dropFirst().dropLast()))
        current = words.count > 1 ? words[words.count - 1] : ""
        session = Session(settings: Settings(socket: line.socket, timeout: .completion), system: system)
    }

    /// Never an error, nor a word about one: while a line is being typed is no time for that.
    func report() -> Report {
        var lines: [String] = []
        if let argument {
            // No words where the daemon does not reply in time.
            let words = try? session.words(for: argument, of: line.command, positionals: line.positionals)
            if case .files? = words { return Report(output: "/\n") }
            if case .known(let words)? = words {
                lines = words.filter(isPlain)
            }
        } else if isOption || line.commands.isEmpty {
            lines = options.map { "\($0.name)\t\($0.summary)" }
        } else {
            let commands = line.commands.map { $0.configuration }
            lines = commands.compactMap { command in command.commandName.map { "\($0)\t\(command.abstract)" } }
        }
        return Report(output: lines.map { $0 + "\n" }.joined())
    }

    private var isOption: Bool { !line.isTerminated && current.utf8.first == UInt8(ascii: "-") }

    /// The argument that stands at the cursor; nil where a command or an option does.
    private var argument: String? {
        if let option = line.pending { return option.name }
        if isOption {
            guard let end = current.firstIndex(of: "=") else { return nil }
            return line.grammar?.option(current[..<end])?.name
        }
        return line.commands.isEmpty ? line.grammar?.positional(at: line.positionals.count) : nil
    }

    /// Those that may stand in the line yet.
    private var options: [CommandGrammar.Option] {
        guard let grammar = line.grammar, !line.isTerminated, !current.contains("=") else { return [] }
        return grammar.options.filter { $0.isRepeating || !line.options.contains($0.name) }
    }
}

/// Whether a word is short, does not begin like an option, and needs no quoting in any shell.
private func isPlain(_ word: String) -> Bool {
    word.utf8.first != UInt8(ascii: "-") && (1...100).contains(word.utf8.count) && word.utf8.allSatisfy { byte in
        0x61...0x7A ~= byte | 0x20 || 0x30...0x39 ~= byte || "._:+-".utf8.contains(byte)
    }
}

// MARK: The line

/// A command line up to the word at the cursor, taken apart.
private struct TypedLine {
    /// The words of the command so far: none, one, or two behind a group.
    let command: [String]
    /// The commands of which the next word may be one.
    private(set) var commands: [any SessionCommand.Type] = []
    /// nil where there is no such command.
    private(set) var grammar: CommandGrammar?
    /// The arguments before the cursor that are known by their position.
    private(set) var positionals: [String] = []
    /// The names of the options before the cursor.
    private(set) var options: Set<String> = []
    /// The value of `--socket`.
    private(set) var socket: String?
    /// The option whose value stands at the cursor, in a word of its own.
    private(set) var pending: CommandGrammar.Option?
    /// Whether `--` has ended the options.
    private(set) var isTerminated = false

    /// - Parameter words: those before the word at the cursor, without the program's name.
    init(_ words: [String]) {
        let invocation = Invocation(words)
        command = invocation.words
        if command == ["help"] {
            let topic = Invocation(invocation.arguments)
            commands = topic.words.isEmpty ? Norrisctl.commands : topic.command?.subcommands ?? []
        } else if command.isEmpty {
            commands = Norrisctl.commands
            grammar = CommandGrammar(Norrisctl.self)
        } else if let type = invocation.command {
            commands = type.subcommands
            grammar = CommandGrammar(type)
        }
        invocation.arguments.forEach { take($0) }
    }

    private mutating func take(_ argument: String) {
        if let option = pending {
            pending = nil
            if option.name == "--socket" { socket = argument }
        } else if isTerminated || argument.utf8.first != UInt8(ascii: "-") || argument == "-" {
            positionals.append(argument)
        } else if argument == "--" {
            isTerminated = true
        } else {
            let name = argument.prefix { $0 != "=" }
            guard let option = grammar?.option(name) else { return }
            options.insert(option.name)
            guard option.takesValue else { return }
            pending = option
            if name.endIndex < argument.endIndex { take(String(argument[name.endIndex...].dropFirst())) }
        }
    }
}

/// The options and arguments of a command, as ArgumentParser knows them.
private struct CommandGrammar {
    /// An option or a flag.
    struct Option {
        /// With their dashes.
        let names: [String]
        let takesValue: Bool
        let isRepeating: Bool
        /// What the help says of it.
        let summary: String

        /// The name that is shown: the long one, if there is one.
        var name: String { names.first { $0.hasPrefix("--") } ?? names.first ?? "" }
    }

    private(set) var options: [Option] = []
    /// What the help calls the values of the arguments that are known by their position.
    private var positionals: [String] = []
    /// Whether the last of them may be repeated.
    private var repeatsLast = false

    init(_ command: any SessionCommand.Type) {
        // ArgumentParser gives this only as JSON; what cannot be read is not completed.
        guard case .object(let dump)? = try? JSON.parse(Array(command._dumpHelp().utf8)),
            case .object(let help)? = dump["command"], case .array(let arguments)? = help["arguments"]
        else { return }
        for case .object(let argument) in arguments where argument["shouldDisplay"] == true {
            let isRepeating = argument["isRepeating"] == true
            if argument["kind"] == "positional" {
                positionals.append(argument.text("valueName"))
                repeatsLast = isRepeating
            } else {
                options.append(Option(
                    names: Self.names(argument), takesValue: argument["kind"] == "option", isRepeating: isRepeating,
                    summary: argument.text("abstract")
                ))
            }
        }
    }

    private static func names(_ argument: JSONObject) -> [String] {
        guard case .array(let names)? = argument["names"] else { return [] }
        return names.compactMap { name in
            guard case .object(let name) = name else { return nil }
            return (name["kind"] == "long" ? "--" : "-") + name.text("name")
        }
    }

    /// The positional argument behind so many others; nil where no more can stand.
    func positional(at index: Int) -> String? {
        index < positionals.count ? positionals[index] : repeatsLast ? positionals.last : nil
    }

    func option(_ name: some StringProtocol) -> Option? {
        options.first { $0.names.contains { $0 == name } }
    }
}

extension JSONObject {
    /// A member that is a text; empty for any other.
    fileprivate func text(_ key: String) -> String {
        guard case .string(let text)? = self[key] else { return "" }
        return text
    }
}

// MARK: The words

private enum ArgumentWords {
    case known([String])
    /// Names of files, which the shell knows better.
    case files
}

extension Session {
    /// The words that may stand for an argument; none where anything may.
    ///
    /// - Parameters:
    ///   - argument: the name of an option, or what the help calls the value of a positional argument.
    ///   - positionals: those before it.
    fileprivate func words(
        for argument: String, of command: [String], positionals: [String]
    ) throws(Failure) -> ArgumentWords {
        switch (command.joined(separator: " "), argument) {
        case (_, "--category"):
            return .known(try call(FactCategories.self).value.items.map(\.name))
        case (_, "--source"): return .known(try sourceNames().filter { $0 != "facts" && $0 != "gifs" })
        case (_, "source"): return .known(try sourceNames())
        case (_, "--author"):
            // Each by the first of its names that can be typed as it is.
            let authors = try call(AuthorList.self).value.items
            return .known(authors.compactMap { author in
                [author.name, author.handle ?? "", author.id].first(where: isPlain)
            })
        case (_, "--color"): return .known(["auto", "always", "never"])
        case (_, "--socket"), (_, "--output"), (_, "-o"), (_, "file"): return .files
        case (_, "--kind"), (_, "kind"): return .known(Favorite.Kind.all.map(\.rawValue))
        case (_, "shell"): return .known(ShellName.allCases.map(\.rawValue))
        case ("call", "method"): return .known(MethodTable.methods.map(\.name))
        case (_, "--rendition"): return .known(Gif.preferredRenditions)
        case ("gif", "--id"): return .known(try favorites(.gif))
        case (_, "--id"): return .known(try favorites(.fact))
        case ("favorite remove", "id"):
            guard let kind = positionals.first.flatMap({ try? favoriteKind($0) }) else { return .known([]) }
            return .known(try favorites(Favorite.Kind(rawValue: kind)))
        case ("post", "id"): return .known(try posts(unread: false))
        case ("read", "id"): return .known(try posts(unread: true))
        default: return .known([])
        }
    }

    private func favorites(_ kind: Favorite.Kind) throws(Failure) -> [String] {
        let parameters = FavoriteList.Parameters(kind: kind, limit: 100)
        return try call(FavoriteList.self, parameters).value.items.map(\.id)
    }

    private func posts(unread: Bool) throws(Failure) -> [String] {
        let parameters = PostList.Parameters(unread: unread, limit: 50)
        return try call(PostList.self, parameters).value.items.map(\.id)
    }

    private func sourceNames() throws(Failure) -> [String] {
        try call(ServerStatus.self).value.sources.map(\.name)
    }
}
