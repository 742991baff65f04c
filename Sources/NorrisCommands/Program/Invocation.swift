import ArgumentParser
import NorrisProtocol
import NorrisTerminal
import NorrisText

/// A command line, split into the command and all the rest, wherever the command stands.
///
/// The options that every command takes may stand before the command. They are moved behind it, and the command is
/// parsed as if it were the whole program, in one pass instead of one for each level.
struct Invocation {
    /// The command as typed; empty if there is none. Behind a group of commands, such as `favorite`, two words.
    let words: [String]
    /// What the words stand for; nil if it is no command.
    let command: (any SessionCommand.Type)?
    /// The arguments without the command.
    let arguments: [String]

    init(_ arguments: [String]) {
        var words: [String] = []
        var rest = Invocation.withLongVersion(arguments)
        var command: (any SessionCommand.Type)?
        var choices = Norrisctl.commands
        repeat {
            guard let position = Self.positionOfCommand(rest) else { break }
            let word = rest.remove(at: position)
            words.append(word)
            command = choices.first { $0.configuration.commandName == word || $0.configuration.aliases.contains(word) }
            choices = command?.subcommands ?? []
        } while !choices.isEmpty
        self.words = words
        self.command = command
        self.arguments = rest
    }

    /// The arguments with `--version` for `-V`, which ArgumentParser does not know.
    private static func withLongVersion(_ arguments: [String]) -> [String] {
        replacing(arguments) { $0 == "-V" ? ["--version"] : [$0] }
    }

    /// The arguments with `-j -n2` for `-jn2`, which ArgumentParser does not know beside joined values.
    static func withSeparateFlags(_ arguments: [String]) -> [String] {
        replacing(arguments) { argument in
            let rest = argument.dropFirst(2)
            guard argument.hasPrefix("-j"), let next = rest.first, "clno".contains(next) else { return [argument] }
            return ["-j", "-\(rest)"]
        }
    }

    /// Replaces arguments that are neither the value of an option nor behind `--`.
    private static func replacing(_ arguments: [String], _ body: (String) -> [String]) -> [String] {
        let valued = ["--author", "--category", "--id", "--name", "--source", "--text", "-c"]
        let end = arguments.firstIndex(of: "--") ?? arguments.count
        return arguments.indices.flatMap { index in
            let isValue = index > 0 && valued.contains(arguments[index - 1])
            return index < end && !isValue ? body(arguments[index]) : [arguments[index]]
        }
    }

    /// The first argument that is neither an option nor the value of one; nil also behind an option that is none of
    /// those that may stand there, for what follows it may be its value.
    private static func positionOfCommand(_ arguments: [String]) -> Int? {
        var position = 0
        while position < arguments.count {
            let argument = arguments[position]
            guard argument.utf8.first == UInt8(ascii: "-") else { return position }
            let name = String(argument.prefix { $0 != "=" })
            if GlobalOptions.namesWithValue.contains(name) {
                position += name == argument ? 2 : 1
            } else if GlobalOptions.namesOfFlags.contains(name) || name == "--" {
                position += 1
            } else {
                return nil
            }
        }
        return nil
    }
}

// MARK: Ids that begin with a dash

extension Invocation {
    /// The arguments with those that are not options behind `--`, if one of them begins with a dash. Options are those
    /// of every command, and words of small letters behind two dashes; an id of this form needs a `--` of its user.
    static func withIDsLast(_ arguments: [String]) -> [String] {
        var options: [String] = []
        var rest: [String] = []
        var hasDashes = false
        var remaining = arguments[...]
        while let argument = remaining.popFirst() {
            if argument == "--" {
                rest += remaining
                break
            } else if argument.utf8.first != UInt8(ascii: "-") || argument == "-" {
                rest.append(argument)
            } else if isOption(argument) {
                options.append(argument)
                if GlobalOptions.namesWithValue.contains(argument), let value = remaining.popFirst() {
                    options.append(value)
                }
            } else {
                rest.append(argument)
                hasDashes = true
            }
        }
        return hasDashes ? options + ["--"] + rest : arguments
    }

    private static func isOption(_ argument: String) -> Bool {
        if GlobalOptions.namesOfFlags.contains(argument) { return true }
        guard argument.hasPrefix("--") else { return false }
        return argument.prefix { $0 != "=" }.utf8.dropFirst(2).allSatisfy { 0x61...0x7A ~= $0 || $0 == 0x2D }
    }
}

// MARK: Command lines that run no command

extension Invocation {
    /// Help, the version, or what is wrong with the arguments.
    func report(_ error: any Error, of command: any SessionCommand.Type, system: System) -> Report {
        if command.exitCode(for: error) == .success {
            let text = command.fullMessage(for: error)
            // ArgumentParser's own help begins so; everything else, such as the version, is printed as it is.
            guard text.hasPrefix("OVERVIEW:") else {
                return Report(output: text.utf8.last == UInt8(ascii: "\n") ? text : text + "\n")
            }
            let session = Session(settings: settings, system: system)
            return Report(output: HelpPage(command, layout: session.layout).text)
        }
        let message = command.message(for: error)
        let mark = "Did you mean '"
        guard !message.contains(mark) else {
            // More than the suggestion would hide it.
            let line = message.prefix { !$0.isNewline }
            return Report(Failure(.usage, String(line)), json: false)
        }
        let isSentence = message.utf8.last == UInt8(ascii: ".")
        return Report(Failure(.usage, isSentence ? message : message + ".", hint: Self.help(words)), json: false)
    }

    /// The options of every command, as far as they can be read where the command line as a whole is not looked at.
    private var settings: Settings {
        var rest = PlainArguments(arguments.flatMap { argument in
            argument.hasPrefix("--") ? argument.split(separator: "=", maxSplits: 1).map(String.init) : [argument]
        }.filter { !["--help", "-h"].contains($0) })
        while (try? rest.next()) != nil {}
        return rest.settings
    }

    private static func help(_ words: [String]) -> Advice {
        "See '\((["norrisctl"] + words).joined(separator: " ")) --help'."
    }

    /// - Parameter words: the command as typed: the last one is unknown, any before it is a group of commands.
    static func unknownCommand(_ words: [String]) -> Failure {
        let groups = Array(words.dropLast())
        let group = groups.isEmpty ? nil : Invocation(groups).command
        let names = (group?.subcommands ?? Norrisctl.commands).compactMap { $0.configuration.commandName }
        let nearest = (names + ["help"]).filter { isNear(words.last ?? "", $0) }
        let unknown = "Unknown command \(words.joined(separator: " ").quotedForMessage)."
        guard !nearest.isEmpty else { return Failure(.usage, unknown, hint: help(groups)) }
        let commands = nearest.map { "'\((["norrisctl"] + groups + [$0]).joined(separator: " "))'" }
        return Failure(.usage, "\(unknown) Did you mean \(commands.joined(separator: " or "))?")
    }
}
