import NorrisProtocol
import NorrisTerminal

/// What may stand in the place of an argument.
enum ArgumentWords: Equatable {
    /// Always the same words.
    case fixed([String])
    /// Names of files, which the shell knows better.
    case files
    case categories
    case sources
    /// Those that have posts.
    case postSources
    case authors
    case favorites(Favorite.Kind)
    case posts(unread: Bool)

    /// nil where anything may stand.
    ///
    /// - Parameters:
    ///   - argument: the name of an option, or what the help calls the value of a positional argument.
    ///   - positionals: those before it.
    init?(_ argument: String, of command: [String], positionals: [String]) {
        switch (command.joined(separator: " "), argument) {
        case (_, "--category"): self = .categories
        case (_, "--source"): self = .postSources
        case (_, "source"): self = .sources
        case (_, "--author"): self = .authors
        case (_, "--color"): self = .fixed(["auto", "always", "never"])
        case (_, "--socket"), (_, "--output"), (_, "-o"), (_, "file"): self = .files
        case (_, "--kind"), (_, "kind"): self = .fixed(Favorite.Kind.all.map(\.rawValue))
        case (_, "shell"): self = .fixed(ShellName.allCases.map(\.rawValue))
        case ("call", "method"): self = .fixed(MethodTable.methods.map(\.name))
        case (_, "--rendition"): self = .fixed(Gif.preferredRenditions)
        case ("gif", "--id"): self = .favorites(.gif)
        case (_, "--id"): self = .favorites(.fact)
        case ("favorite remove", "id"):
            guard let kind = positionals.first.flatMap({ try? favoriteKind($0) }) else { return nil }
            self = .favorites(Favorite.Kind(rawValue: kind))
        case ("post", "id"): self = .posts(unread: false)
        case ("read", "id"): self = .posts(unread: true)
        default: return nil
        }
    }
}

extension Session {
    /// The words themselves, without files; none where the daemon does not say in time.
    func words(_ words: ArgumentWords) -> [CompletionWord] {
        if case .fixed(let words) = words {
            return words.compactMap { CompletionWord($0) }
        }
        do {
            return try foreignWords(words).compactMap { CompletionWord(foreign: $0) }
        } catch {
            return []
        }
    }

    private func foreignWords(_ words: ArgumentWords) throws(Failure) -> [String] {
        switch words {
        case .fixed, .files:
            return []
        case .categories:
            return try call(FactCategories.description, as: FactCategories.Result.self).value.items.map(\.name)
        case .sources:
            return try sourceNames()
        case .postSources:
            return try sourceNames().filter { $0 != "facts" && $0 != "gifs" }
        case .authors:
            // Each by the first of its names that can be typed as it is.
            return try call(AuthorList.description, as: AuthorList.Result.self).value.items.compactMap { author in
                [author.name, author.handle ?? "", author.id].first { CompletionWord(foreign: $0) != nil }
            }
        case .favorites(let kind):
            let parameters = FavoriteList.Parameters(kind: kind, limit: 100)
            return try call(FavoriteList.description, parameters, as: FavoriteList.Result.self).value.items.map(\.id)
        case .posts(let unread):
            let parameters = PostList.Parameters(unread: unread, limit: 50)
            return try call(PostList.description, parameters, as: PostList.Result.self).value.items.map(\.id)
        }
    }

    private func sourceNames() throws(Failure) -> [String] {
        try call(ServerStatus.description, as: ServerStatus.Result.self).value.sources.map(\.name)
    }
}

/// A word that a shell may put into a command line, with what it means.
struct CompletionWord: Equatable {
    let text: String

    /// One line of norrisctl's own, such as the help of an option; never anything from a daemon.
    let summary: String

    /// In bytes.
    private static let longest = 100

    /// nil for a word that a shell might take for more than a word, and so needs quoting: every word that is offered
    /// comes through here, whether it is norrisctl's own or foreign.
    init?(_ text: String, summary: String = "") {
        guard (1...Self.longest).contains(text.utf8.count), text.utf8.allSatisfy(Self.isPlain) else { return nil }
        self.text = text
        self.summary = summary
    }

    /// A word of a daemon's; one that begins like an option is none.
    init?(foreign text: String) {
        guard text.utf8.first != UInt8(ascii: "-") else { return nil }
        self.init(text)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"),
            UInt8(ascii: "+"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
