import NorrisArguments
import NorrisProtocol
import NorrisTerminal
import NorrisText

/// The words that a shell offers at the cursor.
///
/// The completion script runs `norrisctl ---complete norrisctl WORD...` with the words up to the cursor. The last word
/// may be empty or incomplete. The reply contains a word on each line, with a tab and a summary if available, or only
/// the line `/` for file names. The reply is not limited to words with the same beginning, because shells match words
/// themselves. In `--category=d`, the words replace the text after the `=`.
struct Completion {
    /// The first argument of a completion call. No command has an option with this name.
    static let request = "---complete"

    private let session: Session
    /// The word at the cursor.
    private let current: String
    /// The command line before the cursor.
    private let invocation: Invocation
    /// nil if the line contains an unknown command.
    private var items: [Description]?

    /// - Parameter words: The words of the line, with the program's name.
    init(words: [String], system: System) {
        current = words.count > 1 ? words[words.count - 1] : ""
        var invocation = Invocation(Array(words.dropFirst().dropLast()), isLenient: true)
        if (try? invocation.parse()) != nil {
            var settings = invocation.settings
            items =
                (invocation.path.count > 1 ? invocation.descriptions : [])
                + CommandArguments.descriptions { settings.declare(&$0) }
        }
        self.invocation = invocation
        let settings = Settings(socket: invocation.settings.socket, timeout: .completion)
        session = Session(settings: settings, system: system)
    }

    /// Reports no errors, because the user is still typing.
    func report() -> Report {
        guard let items else { return Report() }
        let commands = type(of: invocation.command).commands
        var lines: [String] = []
        if let item = value(items) {
            // The shell itself completes file names better.
            if item.kind == .file || item.kind == .path { return Report(output: "/\n") }
            // No words if the daemon does not reply in time.
            if item.choices.isEmpty {
                let offers = try? session.offers(for: item.kind, invocation.arguments)
                lines = (offers ?? []).filter { isPlain($0.word) }.map(\.line)
            } else {
                lines = item.choices.filter(isPlain)
            }
        } else if !isOption, !commands.isEmpty {
            lines = commands.map { "\($0.name)\t\($0.help.abstract)" }
        } else if !invocation.arguments.isTerminated, !invocation.arguments.wantsHelp, !current.contains("=") {
            // The options that the line may still contain.
            let found = invocation.arguments.found
            let options = items.filter { $0.isOption && ($0.isRepeating || !found.contains($0.name)) }
            lines = options.map { "--\($0.name)\t\($0.summary)" }
        }
        return Report(output: lines.map { $0 + "\n" }.joined())
    }

    private var isOption: Bool { !invocation.arguments.isTerminated && current.utf8.first == UInt8(ascii: "-") }

    /// Returns the option or argument whose value is at the cursor.
    private func value(_ items: [Description]) -> Description? {
        if let pending = invocation.arguments.pending { return pending }
        if isOption {
            guard current.hasPrefix("--"), let end = current.firstIndex(of: "=") else { return nil }
            let name = current[..<end].dropFirst(2)
            return items.first { $0.isOption && $0.takesValue && $0.name == name }
        }
        let positionals = items.filter { !$0.isOption }
        let place = invocation.arguments.positionals.count
        return place < positionals.count ? positionals[place] : positionals.last.flatMap { $0.isRepeating ? $0 : nil }
    }
}

/// The kinds of values, with their names on help pages and the advice for valid values.
extension ValueKind {
    static var address: ValueKind {
        ValueKind("url", noun: "address", "For example: https://planet.debian.org/rss20.xml")
    }
    static var addedSource: ValueKind {
        ValueKind("name", noun: "added source", "'norrisctl feed sources' lists them.")
    }
    static var age: ValueKind { ValueKind("age") }
    static var author: ValueKind { ValueKind("author") }
    static var category: ValueKind {
        ValueKind("name", noun: "category", "'norrisctl categories' lists them.", takesSurplus: true)
    }
    static var change: ValueKind { ValueKind("change") }
    static var columns: ValueKind { ValueKind("columns") }
    static var factScope: ValueKind { ValueKind("source", noun: "scope") }
    static var interval: ValueKind { ValueKind("interval") }
    static var json: ValueKind { ValueKind("json") }
    static var kind: ValueKind { ValueKind("kind") }
    static var method: ValueKind { ValueKind("method", "'norrisctl call rpc.discover' lists them.") }
    static var name: ValueKind { ValueKind("name") }
    /// An item that is not a favorite yet.
    static var newFavorite: ValueKind { ValueKind("id", noun: "item") }
    static var post: ValueKind { ValueKind("id", noun: "post", "'norrisctl feed | cat' shows their ids.") }
    static var postSource: ValueKind {
        ValueKind("name", noun: "source", "'norrisctl feed sources' lists them.", takesSurplus: true)
    }
    static var query: ValueKind { ValueKind("query", noun: "words", "For example: norrisctl search light") }
    static var rendition: ValueKind { ValueKind("name", noun: "size", "'norrisctl gif --json' shows them.") }
    static var searchedContent: ValueKind { ValueKind("kind", noun: "kind") }
    /// A scope of facts or a source of posts.
    static var searchedSource: ValueKind { ValueKind("source", noun: "source or scope") }
    static var shell: ValueKind { ValueKind("shell") }
    static var source: ValueKind { ValueKind("source", "'norrisctl status' lists them.") }
    static var tag: ValueKind { ValueKind("tag", "'norrisctl feed sources' lists them.") }
    static var template: ValueKind { ValueKind("template") }
    static var text: ValueKind { ValueKind("text") }
    static var time: ValueKind { ValueKind("time") }
    static var unreadPost: ValueKind { ValueKind("id", noun: "unread post") }
    static var when: ValueKind { ValueKind("when") }

    /// - Parameter kind: nil for the kind in the first argument.
    static func favorite(_ kind: Favorite.Kind?) -> ValueKind {
        ValueKind("id", noun: kind?.rawValue ?? "favorite", "The last line of an item without a number shows the id.")
    }
}

/// A word for the cursor.
private struct Offer {
    let word: String
    /// Shells show the title beside the word, except bash. Empty for none.
    var title = ""

    /// The word, and after a tab the title as one line of at most 60 columns.
    ///
    /// The title contains none of the characters that shells expand, although zsh and fish only print it.
    var line: String {
        let text = String(
            decoding: title.utf8.lazy.map { "`$\\".utf8.contains($0) ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
        let shown = truncated(sanitizedLine(text), toColumns: 60)
        return shown.isEmpty ? word : "\(word)\t\(shown)"
    }
}

extension Session {
    /// Returns the words for a value, or none if any text is valid.
    fileprivate func offers(for kind: ValueKind, _ arguments: CommandArguments) throws(Failure) -> [Offer] {
        func favorites(_ kind: Favorite.Kind) throws(Failure) -> [Offer] {
            let parameters = FavoriteList.Parameters(kind: kind, page: PageRequest(limit: 100))
            return try call(FavoriteList.self, parameters).value.items.map { Offer(word: $0.id, title: $0.title) }
        }
        switch kind {
        case .category: return try call(FactCategories.self).value.items.map { Offer(word: $0.name) }
        case .source: return try call(ServerStatus.self).value.sources.map { Offer(word: $0.name) }
        case .searchedSource where !arguments.found.contains("in"): return FactScope.words.map { Offer(word: $0) }
        case .addedSource:
            return try call(PostSources.self).value.items.filter { $0.origin == .added }.map { Offer(word: $0.name) }
        case .postSource, .searchedSource:
            return try call(ServerStatus.self).value.sources.filter(\.hasPosts).map { Offer(word: $0.name) }
        case .tag:
            return Set(try call(PostSources.self).value.items.flatMap(\.tags)).sorted().map { Offer(word: $0) }
        case .author:
            // The first name of each author that needs no quotes.
            return try call(AuthorList.self).value.items.compactMap { author in
                [author.name, author.handle ?? "", author.id].first(where: isPlain).map { Offer(word: $0) }
            }
        case .kind: return Favorite.Kind.words.map { Offer(word: $0) }
        case .method: return MethodTable.methods.map { Offer(word: $0.name) }
        case .rendition: return Gif.preferredRenditions.map { Offer(word: $0) }
        case .favorite(.fact): return try favorites(.fact)
        case .favorite(.gif): return try favorites(.gif)
        case .favorite(nil):
            guard let kind = arguments.positionals.first.flatMap(Favorite.Kind.init(argument:)) else { return [] }
            return try favorites(kind)
        case .post, .unreadPost:
            let parameters = PostList.Parameters(unread: kind == .unreadPost, page: PageRequest(limit: 50))
            return try call(PostList.self, parameters).value.items.map { post in
                Offer(word: post.id, title: String((post.title ?? post.text ?? "").unicodeScalars.prefix(200)))
            }
        default: return []
        }
    }
}

/// Whether a word is short, does not begin like an option, and needs no quotes in any shell.
private func isPlain(_ word: String) -> Bool {
    word.utf8.first != UInt8(ascii: "-") && (1...100).contains(word.utf8.count)
        && word.utf8.allSatisfy { byte in
            0x61...0x7A ~= byte | 0x20 || 0x30...0x39 ~= byte || "._:+-".utf8.contains(byte)
        }
}
