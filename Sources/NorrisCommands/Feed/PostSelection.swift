import NorrisArguments
import NorrisProtocol
import NorrisText

extension CommandArguments {
    /// Declares the options that choose sources of posts. See ``refuse(source:tag:)``.
    mutating func sources(_ source: inout String?, _ tag: inout String?, prefix: String = "Only") {
        option(&source, "source", .postSource, "\(prefix) posts of this source. See norrisctl status.")
        option(&tag, "tag", .tag, "\(prefix) posts of the sources with this tag. See norrisctl feed sources.")
    }

    mutating func unread(_ count: inout Int?) {
        option(
            &count, "unread", in: 0...2000,
            "How many of the newest posts stay unread at first. (default: \(SourceSettings.defaultUnread))")
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
