import NorrisArguments
import NorrisProtocol
import NorrisText

extension CommandArguments {
    /// Declares the options that choose sources of posts. See ``refuse(source:tag:)``.
    mutating func sources(_ source: inout String?, _ tag: inout String?, prefix: String = "Only") {
        option(&source, "source", .postSource, "\(prefix) posts of this source. See norrisctl feed sources.")
        option(&tag, "tag", .tag, "\(prefix) posts of the sources with this tag. See norrisctl feed sources.")
    }

    mutating func unread(_ count: inout Int?) {
        option(
            &count, "unread", in: 0...2000,
            "How many of the newest posts stay unread at first. (default: \(SourceSettings.defaultUnread))")
    }

    /// Declares an option for a span of time, in seconds.
    mutating func age(_ age: inout Int?, _ name: String, _ summary: String) {
        option(name, .age, summary, takes: "a time such as 90m, 12h or 7d") { text in
            let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
            guard let unit = text.last.flatMap({ units[$0] }), let count = wholeNumber(String(text.dropLast())),
                1...36_500 * 86_400 / unit ~= count
            else { return false }
            age = count * unit
            return true
        }
    }

    /// Declares the option `--tag` for new tags.
    mutating func tags(_ tags: inout [String], _ summary: String) {
        option("tag", .tag, summary, takes: SourceTag.rule, isRepeating: true) { text in
            guard let tag = SourceTag.normalized(text) else { return false }
            tags.append(tag)
            return true
        }
    }
}

/// Refuses two choices of sources.
func refuse(source: String?, tag: String?) throws(UsageError) {
    if source != nil, tag != nil { throw UsageError("Choose sources by --source or by --tag, not by both.") }
}
