extension Duration {
    static func minutes(_ count: Int64) -> Duration { .seconds(count * 60) }
    static func hours(_ count: Int64) -> Duration { .seconds(count * 3600) }
    static func days(_ count: Int64) -> Duration { .seconds(count * 86_400) }

    /// Reads `90s`, `15m`, `6h` or `7d`: one whole number and one unit, nothing else.
    ///
    /// Nil for any other text, and for more seconds than an `Int64` holds.
    init?(configurationText text: String) {
        guard let unit = text.unicodeScalars.last, let count = Int64(plainDigits: text.dropLast()) else { return nil }
        let scale: Int64
        switch unit {
        case "s": scale = 1
        case "m": scale = 60
        case "h": scale = 3600
        case "d": scale = 86_400
        default: return nil
        }
        let (seconds, overflow) = count.multipliedReportingOverflow(by: scale)
        if overflow { return nil }
        self = .seconds(seconds)
    }

    /// The duration as the configuration file has it, in the largest unit that loses nothing.
    ///
    /// Fractions of a second are dropped; the file cannot hold any. One day is `24h`, as people say it.
    var configurationText: String {
        let seconds = components.seconds
        if seconds == 0 { return "0s" }
        if seconds.isMultiple(of: 86_400), seconds != 86_400 { return "\(seconds / 86_400)d" }
        if seconds.isMultiple(of: 3600) { return "\(seconds / 3600)h" }
        if seconds.isMultiple(of: 60) { return "\(seconds / 60)m" }
        return "\(seconds)s"
    }
}

extension Int64 {
    /// Reads ASCII digits without a sign, an underscore or a needless leading zero, which `Int64(_:)` would allow.
    init?(plainDigits text: some StringProtocol) {
        let digits = text.utf8
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }), digits.count == 1 || digits.first != 0x30 else {
            return nil
        }
        self.init(text)
    }
}
