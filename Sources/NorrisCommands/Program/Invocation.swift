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

    /// The arguments with `--version` for `-V`, which ArgumentParser does not know; not where it is the value of an
    /// option or behind `--`.
    private static func withLongVersion(_ arguments: [String]) -> [String] {
        let valued = ["--author", "--category", "--id", "--name", "--source", "--text", "-c"]
        let end = arguments.firstIndex(of: "--") ?? arguments.count
        return arguments.indices.map { index in
            let isValue = index > 0 && valued.contains(arguments[index - 1])
            return arguments[index] == "-V" && index < end && !isValue ? "--version" : arguments[index]
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

// MARK: Command lines that run no command

extension Invocation {
    /// Help, the version, or what is wrong with the arguments.
    func report(_ error: any Error, of command: any SessionCommand.Type, system: System) -> Report {
        if command.exitCode(for: error) == .success {
            // Long lines are hard to read; below some 30 columns ArgumentParser cannot set its text beside the options.
            let width = system.terminal.width(flag: nil, environment: system.environment)
            let text = command.fullMessage(for: error, columns: max(40, min(width, 100)))
            return Report(output: text.utf8.last == UInt8(ascii: "\n") ? text : text + "\n")
        }
        let message = command.message(for: error)
        let isSentence = message.utf8.last == UInt8(ascii: ".")
        let name = (["norrisctl"] + words).joined(separator: " ")
        let hint: Advice = "\(name) --help shows what it takes."
        return Report(Failure(.usage, isSentence ? message : message + ".", hint: hint), json: false)
    }

    /// - Parameter words: the command as typed: the last one is unknown, any before it is a group of commands.
    static func unknownCommand(_ words: [String]) -> Failure {
        let groups = Array(words.dropLast())
        let group = groups.isEmpty ? nil : Invocation(groups).command
        let names = (group?.subcommands ?? Norrisctl.commands).compactMap { $0.configuration.commandName }
        let nearest = (names + (groups.isEmpty ? ["help"] : [])).filter { isNear(words.last ?? "", $0) }
        let program = (["norrisctl"] + groups).joined(separator: " ")
        return Failure(
            .usage, "There is no command \(words.joined(separator: " ").quotedForMessage).",
            hint: nearest.isEmpty
                ? "\(program) --help lists them."
                : "Did you mean: \(nearest.map { "\(program) \($0)" }.joined(separator: ", or "))"
        )
    }
}
