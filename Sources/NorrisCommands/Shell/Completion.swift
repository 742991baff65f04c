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

    private var session: Session
    /// The word at the cursor.
    private let current: String
    /// The words of the command so far: none, one, or two behind a group.
    private let command: [String]
    /// The commands of which the next word may be one.
    private var commands: [any SessionCommand.Type] = []
    /// nil where there is no such command.
    private var grammar: CommandGrammar?
    /// The arguments before the cursor that are known by their position.
    private var positionals: [String] = []
    /// The names of the options before the cursor.
    private var options: Set<String> = []
    /// The option whose value stands at the cursor, in a word of its own.
    private var pending: CommandGrammar.Option?
    /// Whether `--` has ended the options.
    private var isTerminated = false

    /// - Parameter words: with the program's name.
    init(words: [String], system: System) {
        let invocation = Invocation(Array(words.dropFirst().dropLast()))
        current = words.count > 1 ? words[words.count - 1] : ""
        // With the names that aliases stand for.
        command = invocation.command?.configuration.fullName ?? invocation.words
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
        session = Session(settings: Settings(timeout: .completion), system: system)
        invocation.arguments.forEach { take($0) }
    }

    private mutating func take(_ argument: String) {
        if let option = pending {
            pending = nil
            if option.name == "--socket" { session = session.with { $0.socket = argument } }
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

    /// Never an error, nor a word about one: while a line is being typed is no time for that.
    func report() -> Report {
        var lines: [String] = []
        if let argument {
            // The shell knows the names of files better.
            if ["--socket", "--output", "file"].contains(argument) { return Report(output: "/\n") }
            // No words where the daemon does not reply in time.
            lines = ((try? words(for: argument)) ?? []).filter(isPlain)
        } else if isOption || commands.isEmpty {
            if let grammar, !isTerminated, !current.contains("=") {
                // Those that may stand in the line yet.
                let options = grammar.options.filter { $0.isRepeating || !self.options.contains($0.name) }
                lines = options.map { "\($0.name)\t\($0.summary)" }
            }
        } else {
            let commands = commands.map { $0.configuration }
            lines = commands.compactMap { command in command.commandName.map { "\($0)\t\(command.abstract)" } }
        }
        return Report(output: lines.map { $0 + "\n" }.joined())
    }

    private var isOption: Bool { !isTerminated && current.utf8.first == UInt8(ascii: "-") }

    /// The argument that stands at the cursor: the name of an option, or what the help calls the value of a positional
    /// argument; nil where a command or an option does.
    private var argument: String? {
        if let pending { return pending.name }
        if isOption {
            guard let end = current.firstIndex(of: "=") else { return nil }
            return grammar?.option(current[..<end])?.name
        }
        return commands.isEmpty ? grammar?.positional(at: positionals.count) : nil
    }

    /// The words that may stand for an argument; none where anything may.
    private func words(for argument: String) throws(Failure) -> [String] {
        switch (command.joined(separator: " "), argument) {
        case (_, "--category"): return try session.call(FactCategories.self).value.items.map(\.name)
        case ("fact", "--source"), ("search", "--source"), ("categories", "--source"):
            return FactScope.allCases.map(\.rawValue)
        case (_, "--source"): return try sourceNames().filter { $0 != "facts" && $0 != "gifs" }
        case (_, "source"): return try sourceNames()
        case (_, "--author"):
            // Each by the first of its names that can be typed as it is.
            return try session.call(AuthorList.self).value.items.compactMap { author in
                [author.name, author.handle ?? "", author.id].first(where: isPlain)
            }
        case ("card", "--style"): return ["poster", "scenic"]
        case (_, "--color"): return ["auto", "always", "never"]
        case (_, "--kind"), (_, "kind"): return Favorite.Kind.all.map(\.rawValue)
        case (_, "shell"): return ShellName.allCases.map(\.rawValue)
        case ("call", "method"): return MethodTable.methods.map(\.name)
        case (_, "--rendition"): return Gif.preferredRenditions
        case ("gif", "--id"): return try favorites(.gif)
        case (_, "--id"): return try favorites(.fact)
        case ("favorite remove", "id"):
            guard let kind = positionals.first.flatMap({ try? favoriteKind($0) }) else { return [] }
            return try favorites(Favorite.Kind(rawValue: kind))
        case ("post", "id"): return try posts(unread: false)
        case ("read", "id"): return try posts(unread: true)
        default: return []
        }
    }

    private func favorites(_ kind: Favorite.Kind) throws(Failure) -> [String] {
        try session.call(FavoriteList.self, FavoriteList.Parameters(kind: kind, limit: 100)).value.items.map(\.id)
    }

    private func posts(unread: Bool) throws(Failure) -> [String] {
        try session.call(PostList.self, PostList.Parameters(unread: unread, limit: 50)).value.items.map(\.id)
    }

    private func sourceNames() throws(Failure) -> [String] {
        try session.call(ServerStatus.self).value.sources.map(\.name)
    }
}

/// Whether a word is short, does not begin like an option, and needs no quoting in any shell.
private func isPlain(_ word: String) -> Bool {
    word.utf8.first != UInt8(ascii: "-") && (1...100).contains(word.utf8.count) && word.utf8.allSatisfy { byte in
        0x61...0x7A ~= byte | 0x20 || 0x30...0x39 ~= byte || "._:+-".utf8.contains(byte)
    }
}

/// The options and arguments of a command, as ArgumentParser knows them.
struct CommandGrammar {
    /// An option or a flag.
    struct Option {
        /// With their dashes.
        let names: [String]
        let takesValue: Bool
        /// What the help calls the value.
        let valueName: String
        let isRepeating: Bool
        /// Whether every command takes it.
        let isGlobal: Bool
        /// What the help says of it.
        let summary: String

        /// The name that is shown: the long one, if there is one.
        var name: String { names.first { $0.hasPrefix("--") } ?? names.first ?? "" }
    }

    /// An argument that is known by its position.
    struct Positional {
        /// What the help calls its value.
        let name: String
        let isOptional: Bool
        let isRepeating: Bool
        /// What the help says of it.
        let summary: String
    }

    private(set) var options: [Option] = []
    private(set) var positionals: [Positional] = []

    init(_ command: any SessionCommand.Type) {
        // ArgumentParser gives this only as JSON; what cannot be read is not completed.
        guard case .object(let dump)? = try? JSON.parse(Array(command._dumpHelp().utf8)),
            case .object(let help)? = dump["command"], case .array(let arguments)? = help["arguments"]
        else { return }
        for case .object(let argument) in arguments where argument["shouldDisplay"] == true {
            let isRepeating = argument["isRepeating"] == true
            if argument["kind"] == "positional" {
                positionals.append(Positional(
                    name: argument.text("valueName"), isOptional: argument["isOptional"] == true,
                    isRepeating: isRepeating, summary: argument.text("abstract")
                ))
            } else {
                let names = Self.names(argument)
                options.append(Option(
                    names: names, takesValue: argument["kind"] == "option", valueName: argument.text("valueName"),
                    isRepeating: isRepeating,
                    isGlobal: argument.text("sectionTitle") == GlobalOptions.title
                        || names.contains { ["--help", "--version"].contains($0) },
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
        if index < positionals.count { return positionals[index].name }
        return positionals.last.flatMap { $0.isRepeating ? $0.name : nil }
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
