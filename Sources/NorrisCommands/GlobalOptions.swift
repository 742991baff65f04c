import ArgumentParser
import NorrisTerminal

/// The options that every command takes, before or after its name.
struct GlobalOptions: ParsableArguments {
    static let title = "Options of every command"

    /// Those that have a value in the argument behind them, unless it is joined by `=`.
    static let namesWithValue = ["--color", "--socket", "--timeout", "--width"]

    /// Those that stand alone, with the two that every command has from ArgumentParser.
    static let namesOfFlags = ["--help", "--json", "--plain", "--version", "-h"]

    @Flag(help: "Print the daemon's result as one line of JSON.")
    var json = false

    @Flag(help: "Print as to a pipe: one item a line, not wrapped.")
    var plain = false

    @Option(
        help: ArgumentHelp("Wrap to so many columns on a terminal.", valueName: "columns"),
        transform: integer(1...10_000)
    )
    var width: Int?

    @Option(help: ArgumentHelp("auto, always or never.", valueName: "when"), transform: checkColor)
    var color: String?

    @Option(help: ArgumentHelp("Connect to this socket alone.", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp("Give up after this time: 500ms, 5s, 1m. (default: 5s)", valueName: "time"),
        transform: checkTimeout
    )
    var timeout: String?

    var settings: Settings {
        var settings = Settings()
        settings.json = json
        settings.plain = plain
        settings.width = width
        settings.color = color.flatMap(ColorChoice.init) ?? settings.color
        settings.socket = socket
        settings.timeout = timeout.flatMap(Timeout.init) ?? settings.timeout
        settings.hasTimeout = timeout != nil
        return settings
    }
}

/// Reads an option's value that must be a whole number of a range.
func integer(_ range: ClosedRange<Int>) -> @Sendable (String) throws -> Int {
    { text in
        guard let value = Int(text), range.contains(value) else {
            throw ValidationError("it takes a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return value
    }
}

// These two check and keep the text: each further type of option costs every start the making of its metadata.

@Sendable
private func checkColor(_ text: String) throws -> String {
    guard ColorChoice(rawValue: text) != nil else {
        throw ValidationError("it takes auto, always or never.")
    }
    return text
}

@Sendable
private func checkTimeout(_ text: String) throws -> String {
    guard Timeout(text) != nil else {
        throw ValidationError("it takes a number above zero with a unit, such as 500ms, 5s or 1m.")
    }
    return text
}
