import ArgumentParser

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
        var rest = arguments
        var command: (any SessionCommand.Type)?
        var choices = Norrisctl.commands
        repeat {
            guard let position = Self.positionOfCommand(rest) else { break }
            let word = rest.remove(at: position)
            words.append(word)
            command = choices.first { $0.configuration.commandName == word }
            choices = command?.subcommands ?? []
        } while !choices.isEmpty
        self.words = words
        self.command = command
        self.arguments = rest
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
