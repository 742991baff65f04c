import NorrisFetchProtocol
import NorrisProtocol
import NorrisText

/// Finds the source that a web page represents, by the address that people copy from their browser.
enum PastedAddress {
    /// Pages and their feeds. A star is a part of the host or of the path, or the value of a parameter; the feed
    /// repeats them in this order. Of the host, `www.` and the like are left out.
    static let rows: [(page: String, feed: String)] = [
        ("youtube.com/channel/*", "www.youtube.com/feeds/videos.xml?channel_id=*"),
        ("youtube.com/user/*", "www.youtube.com/feeds/videos.xml?user=*"),
        ("youtube.com/playlist?list=*", "www.youtube.com/feeds/videos.xml?playlist_id=*"),
        ("reddit.com/r/*", "www.reddit.com/r/*/.rss"), ("r/*", "www.reddit.com/r/*/.rss"),
        ("reddit.com/r/*/new", "www.reddit.com/r/*/new/.rss"), ("reddit.com/r/*/top", "www.reddit.com/r/*/top/.rss"),
        ("reddit.com/u/*", "www.reddit.com/user/*/.rss"), ("u/*", "www.reddit.com/user/*/.rss"),
        ("reddit.com/user/*", "www.reddit.com/user/*/.rss"),
        ("github.com/*/*", "github.com/*/*/releases.atom"), ("github.com/*/*/releases", "github.com/*/*/releases.atom"),
        ("github.com/*/*/tags", "github.com/*/*/tags.atom"), ("gitlab.com/*/*", "gitlab.com/*/*/-/releases.atom"),
        ("gitlab.com/*/*/*", "gitlab.com/*/*/*/-/releases.atom"),
        ("gitlab.com/*/*/-/releases", "gitlab.com/*/*/-/releases.atom"),
        ("codeberg.org/*/*", "codeberg.org/*/*/releases.rss"),
        ("codeberg.org/*/*/releases", "codeberg.org/*/*/releases.rss"),
        ("bsky.app/profile/*", "bsky.app/profile/*/rss"), ("medium.com/*", "medium.com/feed/*"),
        ("medium.com/tag/*", "medium.com/feed/tag/*"), ("*.medium.com", "*.medium.com/feed"),
        ("*.substack.com", "*.substack.com/feed"),
        ("stackoverflow.com/questions/tagged/*", "stackoverflow.com/feeds/tag/*"),
        ("news.ycombinator.com", "news.ycombinator.com/rss"), ("news.ycombinator.com/news", "news.ycombinator.com/rss"),
    ]

    /// The source that an address alone shows; nil if only its page shows it.
    static func source(of url: HTTPURL) -> FoundSource? {
        guard url.port == nil else { return nil }
        let path = parts(of: url.path)
        if let user = url.userInfo, path.isEmpty {
            // `@user@host`, and `!community@host` of Lemmy.
            if user.hasPrefix("%40") { return .init(feed: "\(url.host)/@\(user.dropFirst(3)).rss") }
            if user.hasPrefix("!") { return .init(feed: "\(url.host)/feeds/c/\(user.dropFirst()).xml") }
        }
        // An account as another server of Mastodon shows it.
        let account = path.first?.split(separator: "@") ?? []
        if path.count == 1, path[0].hasPrefix("@"), account.count == 2 {
            return .init(feed: "\(account[1])/@\(account[0]).rss")
        }
        for (suffix, kind) in [("/api/v1/timelines/public", PostSourceKind.mastodon), ("/users/posts", .usersPosts)]
        where url.path.hasSuffix(suffix) {
            return FoundSource(kind, "\(url.scheme)://\(url.host)\(url.path.dropLast(suffix.utf8.count))")
        }
        let last = path.last ?? ""
        if ["feed", "rss"].contains(last) || [".atom", ".json", ".rss", ".xml"].contains(where: last.hasSuffix) {
            return nil
        }
        let host = url.host.split(separator: ".")
        let isVariant = host.count > 2 && ["m", "new", "old", "www"].contains(host[0])
        for (page, feed) in rows {
            let words = page.split(separator: "?")
            let known = parts(of: words[0])
            guard let stars = stars(known[0].split(separator: "."), isVariant ? Array(host.dropFirst()) : host),
                let others = self.stars(Array(known.dropFirst()), path)
            else { continue }
            var values = stars + others
            if words.count > 1 {
                let name = words[1].dropLast()
                guard let pair = (url.query ?? "").split(separator: "&").first(where: { $0.hasPrefix(name) }) else {
                    continue
                }
                values.append(pair.dropFirst(name.count))
            }
            return .init(feed: values.reduce(feed) { replacingStar(of: $0, by: $1) })
        }
        return nil
    }

    /// The source that a page represents, by the feeds that it names; nil if none of them is certain.
    ///
    /// - Parameter isMastodon: whether the page is one of a Mastodon server.
    static func source(ofPage url: HTTPURL, naming feeds: [HTTPURL], isMastodon: Bool) -> FoundSource? {
        let path = url.path.last == "/" ? url.path.dropLast() : url.path[...]
        let own = feeds.first { feed in
            // Of YouTube, Lemmy and Mastodon.
            feed.host == url.host && (feed.isSecure || !url.isSecure)
                && (feed.path == "/feeds/videos.xml" || feed.path.hasPrefix("/feeds/c/") || feed.path == path + ".rss")
        }
        if let own { return FoundSource(.feed, own.description) }
        guard isMastodon else { return nil }
        let base = "\(url.scheme)://\(url.authority)"
        let isList = path.hasPrefix("/@") || path.hasPrefix("/tags/")
        return isList ? FoundSource(.feed, "\(base)\(path).rss") : FoundSource(.mastodon, base)
    }

    private static func parts(of path: some StringProtocol) -> [Substring] {
        String(path).split(separator: "/").map { $0.hasSuffix(".git") ? $0.dropLast(4) : $0 }
    }

    /// The words for the stars of a pattern; nil if it does not match.
    private static func stars(_ pattern: [Substring], _ words: [Substring]) -> [Substring]? {
        let pairs = zip(pattern, words)
        guard pattern.count == words.count, pairs.allSatisfy({ $0 == "*" || $0 == $1 }) else { return nil }
        return pairs.filter { $0.0 == "*" }.map(\.1)
    }

    private static func replacingStar(of text: String, by word: Substring) -> String {
        guard let star = text.firstIndex(of: "*") else { return text }
        return "\(text[..<star])\(word)\(text[text.index(after: star)...])"
    }
}

extension FoundSource {
    /// - Parameter feed: the address without its scheme.
    fileprivate init(feed: String) { self.init(.feed, "https://\(feed)") }
}
