import NorrisArguments
import NorrisTerminal

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
    /// For the first fetch of a source, which takes at most 15 seconds with the default of http.timeout.
    static let fetch = Timeout(text: "30s", duration: .seconds(30))
    /// For fetches from the network, and for many calls.
    static let long = Timeout(text: "10m", duration: .seconds(600))
    /// For the fact of a welcome.
    static let moment = Timeout(text: "100ms", duration: .milliseconds(100))

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
