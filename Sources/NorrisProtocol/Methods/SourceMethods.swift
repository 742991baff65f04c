/// The settings of an added source: parameters of `source.add`, and the form in which they are stored. Each has the
/// name and the values of a key in the configuration.
package struct SourceSettings: WireObject, Equatable, Sendable {
    package var url = ""
    package var kind, title, refresh, keep: String?
    package var tags: [String]?
    package var article: Bool?
    /// The number of posts of the first fetch that stay unread; nil for all.
    package var unread: Int?
    /// The same for an added source, unless its settings say otherwise.
    package static let defaultUnread = 10

    package init(url: String, kind: String? = nil, refresh: String? = nil) {
        (self.url, self.kind, self.refresh) = (url, kind, refresh)
    }

    package init() {}

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("url", &url, .text(1...2048), PostSourceKind.addressSummary)
        try members.optional(
            "kind", &kind, .word(PostSourceKind.addable.map(\.rawValue)),
            "Found from the address and its document if absent.")
        try members.optional(
            "unread", &unread, .integer(0...2000, default: SourceSettings.defaultUnread),
            "How many posts of the first fetch are unread.")
        try visitChangeable(&members)
    }

    /// Visits the settings that do not belong to the upstream.
    fileprivate mutating func visitChangeable<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.optional("title", &title, .text(0...200), "The name that users see; the feed's own if absent.")
        try members.optional("refresh", &refresh, .text(0...20), "How often it is fetched, such as 30m.")
        try members.optional("keep", &keep, .text(0...20), "How long its posts are kept, such as 30d.")
        try members.optional("tags", &tags, .list(.text(1...SourceTag.maximumLength)), SourceTag.summary)
        try members.optional("article", &article, .boolean, "Whether each new post gets the text of its page.")
    }
}

package enum SourceAdd: Method {
    package static let name = "source.add"
    package static let summary =
        """
        Adds a source of posts, and fetches it at once. A source with the same kind and address stays as it is.
        """
    package static let isAdministrative = true

    package struct Parameters: WireObject, Equatable, Sendable {
        package var settings = SourceSettings()
        package var sourceName: String?
        /// Whether the reply follows the first run, and a run that fails adds nothing.
        package var waits = false

        package init(_ settings: SourceSettings, name: String?, waits: Bool) {
            (self.settings, sourceName, self.waits) = (settings, name, waits)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try settings.visit(&members)
            try members.optional("name", &sourceName, .text(1...Fact.maximumNameLength), "Its name: a-z, 0-9, _ and -.")
            try members.flag(
                "wait", &waits, "Whether to reply after the first run, and to add nothing if it fails.")
        }
    }

    package struct Result: WireObject, Equatable, Sendable {
        /// The name of the new source, or of the one that has the same kind and address.
        package var sourceName = ""
        package var isAdded = false
        /// With `wait`: the number of stored posts.
        package var items: Int?

        package init(name: String, isAdded: Bool, items: Int? = nil) {
            (sourceName, self.isAdded, self.items) = (name, isAdded, items)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("name", &sourceName)
            try members.required("added", &isAdded)
            try members.optional("items", &items)
        }
    }
}

package enum SourceEdit: Method {
    package static let name = "source.edit"
    package static let summary =
        """
        Changes the given settings of a source that was added; an empty text or list restores a default. A new address \
        is fetched first. Name, posts and marks stay.
        """
    package static let isAdministrative = true

    package struct Parameters: WireObject, Equatable, Sendable {
        package var sourceName = ""
        /// The new address; nil to keep the address.
        package var url: String?
        /// The other new settings; those that are absent stay.
        package var settings = SourceSettings()

        package init(name: String) { sourceName = name }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("name", &sourceName, .text(1...200), "The name of the source.")
            try members.optional("url", &url, .text(1...2048), PostSourceKind.addressSummary)
            try settings.visitChangeable(&members)
        }

        /// The settings after the change; nil if none is named.
        package func changed(_ old: SourceSettings) -> SourceSettings? {
            guard self != Parameters(name: sourceName), case .object(var all) = EncodedJSON(old).tree,
                case .object(let changes) = EncodedJSON(self).tree
            else { return nil }
            for (key, value) in changes.members { all[key] = value == "" || value == [] ? nil : value }
            return try? EncodedJSON(JSON.object(all)).decoded()
        }
    }

    package typealias Result = NoMembers
}

package enum SourceRemove: Method {
    package static let name = "source.remove"
    package static let summary = "Removes a source that was added, and its posts; favorites of posts stay."
    package static let isAdministrative = true

    package struct Parameters: WireObject, Equatable, Sendable {
        package var sourceName = ""

        package init(name: String) { sourceName = name }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("name", &sourceName, .text(1...200), "The name of the source.")
        }
    }

    package typealias Result = FavoriteRemove.Result
}

package enum SourceRefresh: Method {
    package static let name = "source.refresh"
    package static let summary =
        "Fetches from a source now; for users who are no administrators once in \(pause) minutes."

    /// The shortest interval between two refreshes by ordinary users, in minutes.
    package static let pause = 5

    package struct Parameters: WireObject, Equatable, Sendable {
        /// nil for all sources.
        package var source, tag: String?

        package init(source: String?, tag: String? = nil) { (self.source, self.tag) = (source, tag) }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.source(&source)
            try members.tag(&tag, "Only the sources of posts with this tag.")
        }
    }

    package struct Result: WireObject, Equatable, Sendable {
        /// The names of the sources that fetch now.
        package var started: [String] = []

        package init(started: [String]) { self.started = started }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("started", &started)
        }
    }
}

package enum CacheClear: Method {
    package static let name = "cache.clear"
    package static let summary = "Removes the content that was fetched from a source, except favorites."
    package static let isAdministrative = true

    package struct Parameters: WireObject, Equatable, Sendable {
        /// nil for all sources.
        package var source: String?

        package init(source: String?) { self.source = source }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.source(&source)
        }
    }

    package typealias Result = Removed
}

extension MemberVisitor where Self: ~Copyable {
    fileprivate mutating func source(_ source: inout String?) throws(Failure) {
        try optional("source", &source, .text(1...200), "The name of the source; all sources if absent.")
    }
}

/// The kind of upstream of a source of posts. CONTRIBUTING.md lists the steps to add a kind.
package enum PostSourceKind: String, Sendable, CaseIterable {
    case feed, mastodon
    case usersPosts = "users-posts"
    /// A program that prints a feed, which only the configuration can name.
    case exec

    /// The kinds that `source.add` takes.
    package static let addable = allCases.filter { $0 != .exec }

    /// The meaning of the address of a source, for each kind.
    package static var addressSummary: StaticString {
        "The feed itself; for mastodon the server; for users-posts the base URL of the API."
    }

    /// The upstream, in one sentence of norrisd.conf(5).
    package var summary: String {
        switch self {
        case .feed: "RSS, Atom or JSON Feed."
        case .mastodon: "The public timeline of a Mastodon server."
        case .usersPosts: "An API that serves `/users/posts`."
        case .exec: "A program that prints a feed; newsboat's `exec:` scripts work unchanged."
        }
    }
}

/// Names of sources of posts: `[a-z0-9_-]{1,40}`.
package enum SourceName {
    /// The valid names, in words.
    package static let rule = "1 to \(Fact.maximumNameLength) characters of a-z, 0-9, _ and -"

    /// Whether a text is a valid name, by the rule of categories.
    package static func isValid(_ text: String) -> Bool { Fact.isCategoryName(text) }

    /// An unused name for an address: the title, the host, the host with the path, or one of them with a number.
    package static func make(title: String? = nil, url: String, taken: Set<String>) -> String {
        let rest = url.drop { $0 != "/" }.drop { $0 == "/" }
        let address = rest.prefix { !"?#".contains($0) }
        var host = address.prefix { $0 != "/" }
        if let end = host.lastIndex(of: "@") { host = host[host.index(after: end)...] }
        if host.hasPrefix("www.") { host = host.dropFirst(4) }
        let path = address.drop { $0 != "/" }
        var words = [title.map { plain($0) } ?? "", plain(host), plain("\(host)\(path)")].filter { !$0.isEmpty }
        if words.isEmpty { words = ["feed"] }
        let taken = taken.union(SourceStatus.builtInNames)
        if let free = words.first(where: { !taken.contains($0) }) { return free }
        // At most as many names are taken as there are sources, so a free number exists.
        let word = words[0].prefix(Fact.maximumNameLength - 5)
        var number = 2
        while taken.contains("\(word)-\(number)") { number += 1 }
        return "\(word)-\(number)"
    }

    /// The ASCII letters and digits of a text in lower case, with a hyphen for each run of other characters.
    private static func plain(_ text: some StringProtocol) -> String {
        var name = ""
        // More bytes than a name has, because runs of other characters become one hyphen.
        for byte in text.utf8.prefix(200) {
            if 0x30...0x39 ~= byte || 0x61...0x7A ~= byte | 0x20 {
                name.unicodeScalars.append(Unicode.Scalar(byte >= 0x41 ? byte | 0x20 : byte))
            } else if !name.isEmpty, name.utf8.last != UInt8(ascii: "-") {
                name += "-"
            }
        }
        name = String(name.prefix(Fact.maximumNameLength))
        return name.hasSuffix("-") ? String(name.dropLast()) : name
    }
}

/// Tags of sources of posts: letters of any script, digits, `-`, `_` and `.`, in lower case.
package enum SourceTag {
    /// The longest tag, in code points.
    package static let maximumLength = 40
    /// The largest number of tags of one source.
    package static let maximum = 16
    /// The valid tags, in words.
    package static let rule = "1 to \(maximumLength) letters, digits, dots, - and _"

    package static var summary: StaticString { "Words that group sources; at most 16." }

    /// A tag in lower case; nil if it is invalid.
    package static func normalized(_ text: String) -> String? {
        let tag = text.lowercased()
        let isValid = (1...maximumLength).contains(tag.unicodeScalars.count)
        return isValid && tag.unicodeScalars.allSatisfy(isAllowed) ? tag : nil
    }

    /// The valid tag that is most like the name of a folder, in which a hyphen replaces each run of other characters;
    /// nil if no character is left.
    package static func make(folder: String) -> String? {
        var tag = ""
        for part in folder.lowercased().unicodeScalars.split(whereSeparator: { !isAllowed($0) }) {
            tag += (tag.isEmpty ? "" : "-") + String(part)
        }
        return normalized(String(String.UnicodeScalarView(tag.unicodeScalars.prefix(maximumLength))))
    }

    /// The first tags of a list, without repeated ones.
    package static func unique(_ tags: [String], upTo count: Int = maximum) -> [String] {
        var known: Set<String> = []
        return Array(tags.filter { known.insert($0).inserted }.prefix(count))
    }

    /// Scripts such as Devanagari write vowels as marks.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .decimalNumber:
            true
        default: scalar == "-" || scalar == "_" || scalar == "."
        }
    }
}

/// A feed in a list of feeds.
package struct FeedLink: WireObject, Equatable, Sendable {
    package var title: String?
    /// The address; as written if it is no `http` or `https` URL.
    package var url = ""
    /// The folders that contain the feed, the outermost first, and its categories.
    package var tags: [String] = []

    package init(title: String?, url: String, tags: [String] = []) {
        (self.title, self.url, self.tags) = (title, url, tags)
    }

    package init() {}

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.optional("title", &title)
        try members.required("url", &url)
        try members.list("tags", &tags)
    }
}
