import ArgumentParser
import NorrisTerminal

/// What the user chose for all commands alike, as typed: nothing of the system has been looked at.
struct Settings: Equatable, Sendable {
    var json = false
    /// One line an item, after this template.
    var format: Template?
    var plain = false
    var usesPager = true
    var width: Int?
    var color = ColorChoice.auto
    var socket: String?
    /// nil where the user has not chosen one.
    var timeout: Timeout?
}

/// The options that every command takes, before or after its name.
struct GlobalOptions: ParsableArguments {
    static let title = "Options of every command"
    /// Those that have a value in the argument behind them, unless it is joined by `=`.
    static let namesWithValue = ["--color", "--format", "--socket", "--timeout", "--width"]
    /// Those that stand alone, with the two that every command has from ArgumentParser.
    static let namesOfFlags = ["--help", "--json", "--no-pager", "--plain", "--version", "-h", "-j"]

    @Flag(name: [.customShort("j"), .long], help: "Print the result as one line of JSON.") var json = false

    @Option(
        "Print one line for each item: '{id}\\t{text}'.", "template",
        checked("it takes text with fields in braces.") { Template($0) != nil }
    )
    var format: String?

    @Flag(help: "Print one item a line and wrap nothing, as to a pipe.") var plain = false
    @Flag(help: "Do not send long output through a pager.") var noPager = false

    @Option("Wrap to this width on a terminal.", "columns", in: 1...10_000) var width: Int?

    // The next three are texts that are only checked: each further type of option costs every start the making of its
    // metadata.

    @Option(
        "Use colors: auto, always or never. (default: auto)", "when",
        checked("it takes auto, always or never.") { ColorChoice(rawValue: $0) != nil }
    )
    var color: String?

    @Option("Connect to this socket only.", "path") var socket: String?

    @Option(
        "Limit the whole command to this time: 500ms, 5s, 1m. (default: 5s)", "time",
        checked("it takes a number above zero with a unit, such as 500ms, 5s or 1m.") { Timeout($0) != nil }
    )
    var timeout: String?

    var settings: Settings {
        Settings(
            json: json, format: format.flatMap { Template($0) }, plain: plain, usesPager: !noPager, width: width,
            color: color.flatMap(ColorChoice.init) ?? .auto, socket: socket, timeout: timeout.flatMap(Timeout.init)
        )
    }

    func validate() throws {
        if json, format != nil { throw ValidationError("--json and --format exclude each other.") }
    }

    /// Refuses `--json` beside the flags of external programs.
    func refuseJSON(besides flags: (name: String, isSet: Bool)...) throws {
        guard json, let flag = flagWords(flags).first else { return }
        throw ValidationError("--json is for programs: leave out \(flag).")
    }
}

// MARK: Options in one line

extension Option where Value == Int? {
    /// - Parameters:
    ///   - value: what the help calls it.
    ///   - short: of one letter, beside the long name.
    init(_ help: String, _ value: String = "n", short: Character? = nil, in range: ClosedRange<Int>) {
        self.init(name: .named(short), help: ArgumentHelp(help, valueName: value), transform: integer(range))
    }
}

extension Option where Value == String? {
    /// - Parameter parsing: `.unconditional` where the value may begin with a dash.
    init(_ help: String, _ value: String, parsing: SingleValueParsingStrategy = .next) {
        self.init(parsing: parsing, help: ArgumentHelp(help, valueName: value))
    }

    init(_ help: String, _ value: String, _ check: @escaping @Sendable (String) throws -> String) {
        self.init(help: ArgumentHelp(help, valueName: value), transform: check)
    }
}

extension Option where Value == [String] {
    /// One that may be repeated.
    init(wrappedValue: [String], _ help: String, _ value: String, short: Character) {
        self.init(
            wrappedValue: wrappedValue, name: .named(short), parsing: .unconditionalSingleValue,
            help: ArgumentHelp(help, valueName: value)
        )
    }
}

extension NameSpecification {
    /// The long name, and before it a short one if there is one.
    static func named(_ short: Character?) -> NameSpecification {
        short.map { [.customShort($0, allowingJoined: true), .long] } ?? .long
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

/// Checks an option's value and returns it as it is.
func checked(
    _ message: String, _ isValid: @escaping @Sendable (String) -> Bool
) -> @Sendable (String) throws -> String {
    { text in
        guard isValid(text) else { throw ValidationError(message) }
        return text
    }
}

/// The bound of a whole command, as typed and as a duration.
struct Timeout: Equatable, Sendable {
    let text: String
    let duration: Duration
    static let standard = Timeout(text: "5s", duration: .seconds(5))
    /// Too short to be noticed at a prompt.
    static let prompt = Timeout(text: "50ms", duration: .milliseconds(50))
    /// For the words behind a Tab: with the start of the program it is a tenth of a second.
    static let completion = Timeout(text: "80ms", duration: .milliseconds(80))
    /// For what is fetched from the net, and for what takes many calls.
    static let long = Timeout(text: "10m", duration: .seconds(600))
    /// For the fact of the day in a welcome.
    static let moment = Timeout(text: "100ms", duration: .milliseconds(100))

    private init(text: String, duration: Duration) {
        self.text = text
        self.duration = duration
    }

    /// A whole number above zero with the unit ms, s or m, at most a day; nil for anything else.
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
