import Glibc
import NorrisArguments
import NorrisProtocol
import NorrisSystem
import NorrisTerminal

package enum Program {
    /// Runs the command line and ends the process.
    package static func run() -> Never {
        // A pipe without a reader is no error.
        let arguments = ProcessStart.prepare("norrisctl", seesWriteErrors: true)
        exit(run(arguments, on: System()).rawValue)
    }

    /// Runs a command line, and writes its report.
    static func run(_ arguments: [String], on system: System) -> ExitStatus {
        finish(report(arguments: arguments, system: system), system)
    }

    private static func report(arguments: [String], system: System) -> Report {
        if arguments.first == Completion.request {
            return Completion(words: Array(arguments.dropFirst()), system: system).report()
        }
        var invocation = Invocation(arguments)
        do {
            try invocation.parse()
            if !invocation.arguments.wantsHelp, !invocation.arguments.wantsVersion { try invocation.check() }
        } catch {
            let failure = Failure(
                .usage, error.text(of: invocation.name), hint: "See '\(value: invocation.name) --help'.")
            var report = Report(failure, json: false)
            report.isForPrompt = invocation.command is PromptCommand
            return report
        }
        let session = Session(settings: invocation.settings, system: system)
        if invocation.arguments.wantsHelp { return Report(output: invocation.helpPage(session.layout)) }
        if invocation.arguments.wantsVersion { return Report(output: Norrisctl.version + "\n") }
        return Report(of: session, invocation.command.run)
    }

    private static func finish(_ report: Report, _ system: System) -> ExitStatus {
        var report = report
        do throws(SystemError) {
            if !showInPager(&report, system) { try system.writeOutput(report.output) }
        } catch {
            guard !report.isForPrompt, !error.isClosedPipe else { return .done }
            report.status = .inputOutput
            report.note("\(value: unwritable(error))")
        }
        if report.hasErrors { system.writeError(Array(report.errorText(columns: system.errorColumns).utf8)) }
        return report.status
    }

    /// - Returns: Whether the pager has shown the output.
    private static func showInPager(_ report: inout Report, _ system: System) -> Bool {
        // The last row of the screen is for the shell's prompt.
        guard report.usesPager, let rows = system.terminal.rows,
            report.output.count(where: { $0 == UInt8(ascii: "\n") }) >= rows, let pager = Pager(system.environment)
        else { return false }
        do throws(Failure) { return try pager.show(report.output, on: system) } catch {
            // A failure of the pager does not affect the status of the command.
            let status = report.status
            report.add(error)
            report.status = status
            return true
        }
    }
}

// MARK: The command line

/// A parsed command line: the command and the settings.
struct Invocation {
    private(set) var settings = Settings()
    private(set) var command: any SessionCommand = Norrisctl()
    /// The names of the program and the command.
    private(set) var path = [Norrisctl.name]
    private(set) var arguments: CommandArguments

    init(_ words: [String], isLenient: Bool = false) {
        // Shells run `norrisctl prompt` often, so its usual form needs no search in all commands.
        let isPrompt = words.first == PromptCommand.name
        arguments = CommandArguments(isPrompt ? Array(words.dropFirst()) : words)
        arguments.isLenient = isLenient
        if isPrompt { (command, path) = (PromptCommand(), [Norrisctl.name, PromptCommand.name]) }
    }

    var name: String { path.joined(separator: " ") }

    mutating func parse() throws(UsageError) {
        var (settings, command, path) = (settings, command, path)
        defer { (self.settings, self.command, self.path) = (settings, command, path) }
        do throws(UsageError) { try parse(&settings, &command, &path) } catch {
            guard let word = error.unknown, let guess = type(of: command).correction(of: word) else { throw error }
            throw UsageError("\(error.message) Did you mean 'norrisctl \(guess)'?")
        }
    }

    private mutating func parse(
        _ settings: inout Settings, _ command: inout any SessionCommand, _ path: inout [String]
    ) throws(UsageError) {
        try arguments.parse { arguments in
            // Settings declare no positional arguments.
            if arguments.isOption { settings.declare(&arguments) }
            command.declare(&arguments)
        } word: { word throws(UsageError) in
            let commands = type(of: command).commands
            if commands.isEmpty { return .surplus }
            if word == "help" { return .help }
            guard let type = commands.first(where: { $0.name == word || $0.aliases.contains(word) }) else {
                let words = path.dropFirst() + [word]
                func suggested(_ names: [String], _ prefix: String = "") -> String {
                    suggestion(of: names, for: word) { (path + [prefix + $0]).joined(separator: " ") }
                }
                var meant = suggested(commands.map { $0.name } + ["help"])
                if meant.isEmpty {
                    let items = CommandArguments.descriptions {
                        path.count == 1 ? settings.declare(&$0) : command.declare(&$0)
                    }
                    meant = suggested(items.filter(\.isOption).map(\.name), "--")
                }
                let text = words.joined(separator: " ").quotedForMessage
                throw UsageError("Unknown command \(text).\(meant)", unknown: meant.isEmpty ? word : nil)
            }
            command = type.init()
            path.append(type.name)
            return .command(takesIDs: type.takesIDs)
        }
    }

    /// Refuses invalid combinations of options and arguments.
    func check() throws(UsageError) {
        if settings.json, settings.format != nil { throw UsageError("--json and --format exclude each other.") }
        if settings.format != nil, !type(of: command).hasFields {
            throw UsageError("--format: there are no fields here.")
        }
        try command.validate(settings)
    }

    /// The options and arguments of the command. Without a command, the common options.
    var descriptions: [Description] {
        var (settings, command) = (settings, command)
        return CommandArguments.descriptions { path.count == 1 ? settings.declare(&$0) : command.declare(&$0) }
    }

    func helpPage(_ layout: Layout) -> String {
        let type = type(of: command)
        // Longer lines are hard to read.
        let width = min(layout.width ?? 80, 100)
        let page = HelpPage(
            name, type.help, descriptions,
            aliases: type.aliases.map { (path.dropLast() + [$0]).joined(separator: " ") },
            groups: type.groups.map { group in
                (group.title, group.commands.map { ($0.name, $0.help.abstract) })
            },
            statuses: path.count > 1 ? [] : ExitStatus.allCases.map { ("\($0.rawValue)", $0.meaning) },
            closing: path.count > 1
                ? "Options of every command, and exit statuses: norrisctl --help"
                : "More about a command: norrisctl <command> --help. The manual: man norrisctl", width: width)
        var screen = Screen(layout: Layout(width: width, usesEscapes: layout.usesEscapes))
        for line in page.lines { screen.line(line.text, line.isHeading ? .bold : .normal) }
        return screen.text
    }
}

/// The options of every command, as given on the command line.
struct Settings: Equatable, Sendable {
    var json = false
    var format: Template?
    var plain = false
    var noPager = false
    /// The width in columns.
    var width: Int?
    var color: ColorChoice?
    var socket: String?
    /// nil if the user has not chosen a timeout.
    var timeout: Timeout?

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.flag(&json, "json", short: "j", "Print the result as one line of JSON.")
        arguments.option(
            "format", .template, "Print one line for each item: '{id}\\t{text}'.", takes: "text with fields in braces"
        ) { assign(&format, Template($0)) }
        arguments.flag(&plain, "plain", "Print one item a line and wrap nothing, as to a pipe.")
        arguments.flag(&noPager, "no-pager", "Do not send long output through a pager.")
        arguments.option(&width, "width", .columns, in: 1...10_000, "Wrap to this width on a terminal.")
        arguments.option(
            "color", .when, "Use colors: auto, always or never. (default: auto)", choices: ColorChoice.words
        ) { assign(&color, ColorChoice(rawValue: $0)) }
        arguments.option(&socket, "socket", .path, "Connect to this socket only.")
        arguments.option(
            "timeout", .time, "Limit the whole command to this time: 500ms, 5s, 1m. (default: 5s)",
            takes: "a number above zero with a unit, such as 500ms, 5s or 1m"
        ) { assign(&timeout, Timeout($0)) }
        arguments.common()
    }

    /// Refuses `--json` in combination with flags of external programs.
    func refuseJSON(besides flags: @autoclosure () -> [(name: String, isSet: Bool)]) throws(UsageError) {
        guard json, let flag = flagWords(flags()).first else { return }
        throw UsageError("--json is for programs: leave out \(flag).")
    }
}

/// The time limit of a whole command, as text and as a duration.
struct Timeout: Equatable, Sendable {
    let text: String
    let duration: Duration
    static let standard = Timeout(text: "5s", duration: .seconds(5))
    /// Too short for a user to notice at a prompt.
    static let prompt = Timeout(text: "50ms", duration: .milliseconds(50))
    /// For completion: with the start of the program, about a tenth of a second.
    static let completion = Timeout(text: "80ms", duration: .milliseconds(80))
    /// For the first fetch of a source, which takes at most http.timeout and a few seconds.
    static let fetch = Timeout(text: "30s", duration: .seconds(30))
    /// For fetches from the network, and for many calls.
    static let long = Timeout(text: "10m", duration: .seconds(600))
    /// For the fact of a welcome.
    static let moment = Timeout(text: "100ms", duration: .milliseconds(100))

    /// A longer limit to try, if there is one.
    var longer: Timeout? { [.fetch, .long, .hour].first { $0.duration > duration } }
    private static let hour = Timeout(text: "60m", duration: .seconds(3600))

    private init(text: String, duration: Duration) {
        self.text = text
        self.duration = duration
    }

    /// Reads a whole number above zero with the unit ms, s or m, at most one day. Returns nil for other texts.
    init?(_ text: String) {
        let digits = text.utf8.prefix { 0x30...0x39 ~= $0 }
        guard let count = Int(Substring(digits)), count > 0, count <= 86_400_000 else { return nil }
        let duration: Duration
        switch text.utf8.dropFirst(digits.count).map({ Unicode.Scalar($0) }) {
        case ["m", "s"]: duration = .milliseconds(count)
        case ["s"]: duration = .seconds(count)
        case ["m"]: duration = .seconds(60 * count)
        default: return nil
        }
        guard duration <= .seconds(86_400) else { return nil }
        self.init(text: text, duration: duration)
    }
}
