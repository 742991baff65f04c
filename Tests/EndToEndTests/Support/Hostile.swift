import NorrisProtocol
import NorrisTestSupport

/// Hostile texts of upstreams, files and users.
enum Hostile {
    /// Terminal sequences, complete and incomplete, each with ESC and a letter and with a C1 control; C0, DEL, C1, bidi
    /// controls and line separators. No NUL, because an argument cannot contain NUL.
    static let argument =
        "a\u{1B}[31mb\u{1B}]0;title\u{7}c\u{9B}2Jd\u{8}\u{7F}e\u{85}f\u{202E}g\u{2066}\u{2028}h\r\ni\tj"
        + "\u{1B}]52;c;eA==\u{7}k\u{1B}]8;;javascript:x\u{1B}\\l\u{1B}P$qm\u{1B}\\m\u{9D}0;x\u{9C}n\u{90}q"
        + "\u{1B}[5n\u{200F}\u{1B}_x\u{1B}\\o\u{1B}[2"

    static let text = argument + "\u{0}p\u{1B}"

    static let json = JSON.string(text).jsonText

    /// `text` as a JSON string that escapes only the characters for which RFC 8259 requires an escape.
    static let rawJSON =
        "\""
        + text.unicodeScalars.map { scalar in
            scalar.value < 0x20 || scalar == "\\"
                ? String(JSON.string(String(scalar)).jsonText.dropFirst().dropLast()) : String(scalar)
        }.joined() + "\""

    /// Invalid UTF-8: overlong forms, a surrogate, an invalid lead byte, a single-byte C1, a truncated sequence.
    static let bytes: [UInt8] =
        Array(argument.utf8)
        + [0xC0, 0x9B, 0xE0, 0x82, 0x9B, 0xED, 0xA0, 0x80, 0xF5, 0x80, 0x80, 0x80, 0x9B, 0x33, 0xE2, 0x80]

    /// An address that is invalid because of its control characters.
    static let address = "https://e.example/\u{1B}]0;x\u{7}\u{9B}m\u{202E}"
}

/// Valid results of every method with a hostile text in every string member.
enum HostileResults {
    private static let text = Hostile.text
    private static let now = Timestamp.ofTests

    static let failure = SourceFailure(kind: SourceFailure.Kind(rawValue: text), message: text, since: now)
    private static let freshness = Freshness(
        origin: Freshness.Origin(rawValue: text), state: Freshness.State(rawValue: text), error: failure)
    private static let fact = Fact(id: text, text: text, categories: [text], source: text, url: Hostile.address)
    private static let gif = Gif(
        id: text, title: text, rating: text, pageURL: Hostile.address, username: text, altText: text,
        renditions: [
            "original": Gif.Rendition(url: Hostile.address, mp4: text, webp: text), text: Gif.Rendition(url: text),
        ])
    private static let post = Post(
        id: text, source: text, author: Post.Author(id: text, name: text, handle: text, avatarURL: text, email: text),
        title: text, text: text, tags: [text],
        images: [Post.Image(url: Hostile.address, width: 1, height: 1, alt: text), Post.Image(url: text)],
        stats: Post.Stats(likes: 1), url: Hostile.address)
    private static let favorite = Favorite(
        kind: Favorite.Kind(rawValue: text), id: text, title: text, addedAt: now, fact: fact, gif: gif)

    static func result(of method: String, next: String?) -> String {
        switch method {
        case ServerInfo.name:
            ServerInfo.Result(
                name: text, version: text, protocolVersion: 1, capabilities: [text], pid: 1, startedAt: now
            ).jsonText
        case ServerStatus.name:
            ServerStatus.Result(
                state: ServerStatus.State(rawValue: text), message: text, uptimeSeconds: 1, connections: 1,
                requestsTotal: 1, requestsPerMinute: [1, 2],
                sources: [text, "facts", "gifs"].map {
                    SourceStatus(name: $0, kind: text, isEnabled: true, items: 1, freshness: freshness)
                }, database: ServerStatus.Database(cacheBytes: 1, stateBytes: 1, isReadOnly: true, freeBytes: 0),
                version: text
            ).jsonText
        case FactRandom.name: FactRandom.Result(items: [fact, fact], freshness: freshness).jsonText
        case FactToday.name: FactToday.Result(fact: fact, freshness: freshness).jsonText
        case FactGet.name: FactGet.Result(fact: fact).jsonText
        case FactSearch.name: FactSearch.Result(items: [fact], next: next, freshness: freshness).jsonText
        case FactCategories.name:
            FactCategories.Result(items: [FactCategories.Category(name: text, count: 1)], freshness: freshness).jsonText
        case GifSearch.name, GifTrending.name:
            GifSearch.Result(items: [gif, gif], next: next, freshness: freshness).jsonText
        case GifRandom.name: GifRandom.Result(gif: gif, freshness: freshness).jsonText
        case GifGet.name: GifGet.Result(gif: gif).jsonText
        case PostList.name: PostList.Result(items: [post, post], next: next, freshness: freshness).jsonText
        case PostGet.name: PostGet.Result(post: post).jsonText
        case PostMarkRead.name: #"{"marked":1}"#
        case FavoriteList.name: FavoriteList.Result(items: [favorite, favorite], next: next).jsonText
        case FavoriteAdd.name: FavoriteAdd.Result(added: true).jsonText
        case FavoriteRemove.name: FavoriteRemove.Result(removed: true).jsonText
        case RecentList.name:
            RecentList.Result(items: [
                RecentList.Search(kind: RecentList.Search.Kind(rawValue: text), query: text, at: now)
            ]).jsonText
        case SourceRefresh.name: SourceRefresh.Result(started: [text]).jsonText
        case CacheClear.name: CacheClear.Result(removed: 1).jsonText
        case EventSubscribe.name: #"{"topics":["source"]}"#
        // Members that the results of other and future methods may contain.
        default: #"{"id":\#(Hostile.json),"text":\#(Hostile.json),"items":[\#(Hostile.json)],"removed":1,"added":1}"#
        }
    }

    /// Lines of every kind of event; the last event ends a run.
    static let events = [
        Event.source(text, .started), .item(source: text, added: 1), .server(Event.Phase(rawValue: text)),
        .source(text, Event.Phase(rawValue: text)), .source(text, .failed, error: failure),
    ].flatMap(\.line)
}
