/// The bound of a whole command, as typed and as a duration.
package struct Timeout: Equatable, Sendable {
    package let text: String
    package let duration: Duration

    package static let standard = Timeout(text: "5s", duration: .seconds(5))

    /// What nobody notices at a prompt.
    static let prompt = Timeout(text: "50ms", duration: .milliseconds(50))

    /// For the words behind a Tab: with the start of the program it is a tenth of a second.
    static let completion = Timeout(text: "80ms", duration: .milliseconds(80))

    /// For what is fetched from the net, and for what takes many calls.
    package static let long = Timeout(text: "10m", duration: .seconds(600))

    /// For what is nice to have beside something else.
    static let moment = Timeout(text: "100ms", duration: .milliseconds(100))

    private init(text: String, duration: Duration) {
        self.text = text
        self.duration = duration
    }

    /// A whole number above zero with the unit ms, s or m, at most a day; nil for anything else.
    package init?(_ text: String) {
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
