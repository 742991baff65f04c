import Glibc
import NorrisServer
import NorrisText
import NorrisUpstream

/// A key that `Root` has in the file: its name, its meaning, and how it gets into `Root` and out of it again.
struct ConfigurationKey<Root>: Sendable {
    let name: String
    /// One sentence for the man page; empty for a section.
    let summary: String
    /// The keys below it, for a section.
    var keys: [ConfigurationKey<Root>] = []
    /// What its value may be, such as `true or false`.
    let accepts: String
    /// Whether `null` is a value, or a matter of `read`, and not a mistake.
    var acceptsNull = false
    /// Whether there is no default to fall back on.
    var isRequired = false
    let read: @Sendable (YAMLNode, inout Root, inout ConfigurationReader) -> Void
    /// The value on one line, or lines that each begin with a line feed.
    let write: @Sendable (Root) -> String
}

extension ConfigurationKey {
    /// A key with a value.
    init<Value>(
        _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable, _ kind: ConfigurationKind<Value>,
        isRequired: Bool = false, _ summary: String
    ) {
        self.init(
            name: name, summary: summary, accepts: kind.accepts, acceptsNull: kind.acceptsNull,
            isRequired: isRequired,
            read: { node, root, reader in
                if let value = reader.read(kind, node) { root[keyPath: path] = value }
            },
            write: { kind.write($0[keyPath: path]) }
        )
    }

    /// A key with a list of values. Every item that is wrong is reported.
    init<Item>(
        _ name: String, _ path: any WritableKeyPath<Root, [Item]> & Sendable, listOf kind: ConfigurationKind<Item>,
        _ summary: String
    ) {
        self.init(
            name: name, summary: summary, accepts: "a list, each item \(kind.expectation)",
            read: { node, root, reader in
                guard case .sequence(let items) = node.content else {
                    let hint = node.scalar.map { "write [\(YAMLText.scalar($0.text))]" }
                    return reader.refuse(node, expected: "a list", hint: hint)
                }
                root[keyPath: path] = items.compactMap { reader.isReadable($0) ? reader.read(kind, $0) : nil }
            },
            write: { "[" + $0[keyPath: path].map(kind.write).joined(separator: ", ") + "]" }
        )
    }

    /// A key with more keys below it.
    init(section name: String, _ keys: [ConfigurationKey<Root>]) {
        self.init(
            name: name, summary: "", keys: keys, accepts: "", acceptsNull: true,
            read: { node, root, reader in reader.read(keys, in: node, into: &root) },
            write: { root in keys.map { "\n  " + $0.yaml(root).replacing("\n", with: "\n  ") }.joined() }
        )
    }

    /// The key with its value as YAML, without a line feed at the end.
    func yaml(_ root: Root) -> String {
        let value = write(root)
        return "\(name):" + (value.hasPrefix("\n") ? value : " " + value)
    }

    /// The dotted paths of all values at and below these keys, in order, with their keys.
    static func values(of keys: [Self], under prefix: String = "") -> [(path: String, key: Self)] {
        keys.flatMap { key in
            key.keys.isEmpty ? [(prefix + key.name, key)] : values(of: key.keys, under: "\(prefix)\(key.name).")
        }
    }
}

/// The one table of all keys: reading, printing, suggestions and the man page come from it.
enum ConfigurationSchema {
    static let keys: [ConfigurationKey<Configuration>] = [
        .init(
            section: "log",
            [
                .init("level", \.logLevel, .choice, "The lowest level of messages that are logged.")
            ]),
        .init(
            "admin_groups", \.adminGroups, listOf: .group,
            "Groups whose members may reload the configuration and clear the cache, as root and norrisd's user may."
        ),
        .init(
            section: "limits",
            [
                .init("connections", \.limits.connections, .count(1...65_536), "Connections served at a time."),
                .init(
                    "connections_per_user", \.limits.connectionsPerUser, .count(1...65_536),
                    "Connections served at a time for one user; administrators are excepted."
                ),
            ]),
        .init(section: "http", http),
        .init(section: "facts", facts),
        .init(section: "gifs", gifs),
        .init(section: "posts", posts),
    ]

    private static let http: [ConfigurationKey<Configuration>] = [
        .init("timeout", \.http.timeout, .duration(1...600), "The time limit for a whole request."),
        .init("max_body", \.http.maximumBody, .size(1 << 10...1 << 28), "The largest response, uncompressed."),
        .init("user_agent", \.http.userAgent, .headerValue, "The User-Agent that norrisd sends to upstreams."),
        .init(
            "proxy", \.http.proxy, ConfigurationKind.proxy.orNull, "The HTTP proxy through which upstreams are reached."
        ),
    ]

    private static let facts: [ConfigurationKey<Configuration>] = [
        .init("enabled", \.facts.enabled, .boolean, "Whether facts are fetched; stored ones are served either way."),
        .init("base_url", \.facts.baseURL, .baseURL, "The API of the facts."),
        .init("refresh", \.facts.refresh, .refresh, "How often the facts are fetched."),
        .init(
            "queries", \.facts.queries, listOf: .query(3...120),
            "Searches to prefetch, one request each."
        ),
        .init("fortunes", \.facts.fortunes, listOf: .fortunes, "Fortune cookie files or folders to read as well."),
        .init(
            "mix_fortunes", \.facts.mixFortunes, .boolean,
            "Whether fortunes are also served when no category is chosen."
        ),
    ]

    private static let gifs: [ConfigurationKey<Configuration>] = [
        .init("enabled", \.gifs.enabled, .boolean, "Whether GIFs are fetched; they need a key."),
        .init("base_url", \.gifs.baseURL, .baseURLForKey, "The API of the GIFs."),
        .init(
            "api_key_file", \.gifs.apiKeyFile, ConfigurationKind.keyFile.orNull,
            "The file with the API key; without it, the systemd credential giphy-api-key is used."
        ),
        .init("rating", \.gifs.rating, .choice, "The strongest content rating that is fetched."),
        .init("refresh", \.gifs.refresh, .refresh, "How often GIFs are fetched; a search stays fresh as long."),
        .init("queries", \.gifs.queries, listOf: .query(1...50), "Searches to prefetch."),
        .init("keep", \.gifs.keep, .keep, "How long a GIF is kept; favorites keep id and title."),
        .init("hourly_quota", \.gifs.hourlyQuota, .count(1...1_000_000), "Requests an hour that the API key allows."),
    ]

    private static let posts: [ConfigurationKey<Configuration>] = [
        .init("refresh", \.posts.refresh, .refresh, "How often posts are fetched, unless a source sets its own."),
        .init(
            "keep", \.posts.keep, .keep,
            "How long a post is kept after it has left the feed, unless a source sets its own."
        ),
        // After refresh and keep, which its entries inherit. Nothing but comments is an empty mapping.
        .init(
            name: "sources",
            summary: "The feeds to fetch: a mapping of names of your choice to their settings.",
            accepts: "a mapping of names to sources", acceptsNull: true,
            read: { node, configuration, reader in
                let expected = "a mapping such as {planet: {kind: feed, url: https://planet.example/rss.xml}}"
                guard let entries = reader.entries(of: node, expected: expected) else { return }
                let posts = configuration.posts
                configuration.posts.sources = entries.map { reader.readSource($0, $1, inheriting: posts) }
            },
            write: { configuration in
                let sources = configuration.posts.sources
                return sources.isEmpty ? "{}" : sources.map { "\n  " + $0.yaml }.joined()
            }
        ),
    ]

    /// The keys of one source. `kind` comes first, because what `url` may be depends on it.
    static let sourceKeys: [ConfigurationKey<Configuration.PostSource>] = [
        .init(
            "kind", \.kind, .choice, isRequired: true, "The kind of upstream: RSS, Atom or JSON Feed, or an API."
        ),
        .init(
            name: "url",
            summary: "The feed itself; for mastodon the server; for users-posts the base URL of the API.",
            accepts: ConfigurationKind.documentURL.expectation, isRequired: true,
            read: { node, source, reader in
                source.url = reader.read(source.kind == .feed ? .documentURL : .baseURL, node) ?? ""
            },
            write: { YAMLText.scalar($0.url) }
        ),
        .init("enabled", \.enabled, .boolean, "Whether this source is fetched; stored posts are served either way."),
        .init("refresh", \.refresh, .refresh, "How often it is fetched; posts.refresh by default."),
        .init("keep", \.keep, .keep, "How long its posts are kept; posts.keep by default."),
    ]
}

extension ConfigurationReader {
    /// One entry of `posts.sources`; it counts only where no fault was found.
    fileprivate mutating func readSource(
        _ name: String, _ node: YAMLNode, inheriting posts: Configuration.Posts
    ) -> Configuration.PostSource {
        let isName =
            (1...40).contains(name.utf8.count)
            && name.utf8.allSatisfy { islower(Int32($0)) != 0 || isdigit(Int32($0)) != 0 || "-_".utf8.contains($0) }
        if ["facts", "gifs"].contains(name) {
            refuseKey(node, "is the name of a built-in source; choose another name")
        } else if !isName {
            refuseKey(node, "is not a valid source name; use 1 to 40 characters of a-z, 0-9, _ and -")
        }
        let faultsBefore = faultCount
        var source = Configuration.PostSource(
            name: name, kind: .feed, url: "", refresh: posts.refresh, keep: posts.keep
        )
        read(ConfigurationSchema.sourceKeys, in: node, into: &source)
        // Where something else is wrong with the source, the missing value is likely the one already reported.
        var given: [String?] = []
        if case .mapping(let entries) = node.content { given = entries.map(\.name) }
        let missing = ConfigurationSchema.sourceKeys.first { $0.isRequired && !given.contains($0.name) }
        if let missing, faultCount == faultsBefore {
            refuseKey(node, "has no \(missing.name); every source needs kind and url")
        }
        return source
    }
}

extension Configuration.PostSource {
    /// The entry on one line, with all that it inherited.
    fileprivate var yaml: String {
        "\(YAMLText.scalar(name)): {\(ConfigurationSchema.sourceKeys.map { $0.yaml(self) }.joined(separator: ", "))}"
    }
}

extension Configuration {
    /// All of it as YAML, for `--print-config`, in the schema's order.
    ///
    /// Read again it gives an equal configuration, but for the password of a proxy, which is written as `***`.
    var yaml: String { ConfigurationSchema.keys.map { $0.yaml(self) + "\n" }.joined() }
}

extension ConfigurationSchema {
    /// The advice about a key that does not exist: the one that was meant if that is clear, else all that are valid.
    static func advice(for name: String, in section: String, among siblings: [String]) -> String {
        func path(_ name: String) -> String { section.isEmpty ? name : "\(section).\(name)" }
        if let nearest = nearest(to: name, among: siblings) {
            return "did you mean \(path(nearest))?"
        }
        if keys.contains(where: { $0.name == name }) {
            return "it belongs at the top of the file; do not indent it"
        }
        let all = ConfigurationKey.values(of: keys).map(\.path)
        let parts = name.split(separator: ".")
        if parts.count == 2, all.contains(name) {
            return "write it as \(parts[0]): {\(parts[1]): …}"
        }
        // The keys of a source are few, and no other section is what was meant there.
        let elsewhere = section.hasPrefix("posts.sources.") ? [] : all.filter { $0.hasSuffix("." + name) }
        if let last = elsewhere.last {
            let first = elsewhere.dropLast().joined(separator: ", ")
            return "did you mean \(first.isEmpty ? last : first + " or " + last)?"
        }
        return "valid here: " + siblings.joined(separator: ", ")
    }

    /// The candidate nearest to a mistyped key, or nil if none is near: one slip for every three letters.
    ///
    /// Case does not count and `-` is taken for `_`. Of equally near candidates the first one wins.
    private static func nearest(to key: String, among candidates: [String]) -> String? {
        func folded(_ key: String) -> [Unicode.Scalar] {
            // No valid key is longer, and an endless one must not cost its length squared.
            key.lowercased().unicodeScalars.prefix(64).map { $0 == "-" ? "_" : $0 }
        }
        let wanted = folded(key)
        let distances = candidates.map { (candidate: $0, distance: editDistance(wanted, folded($0))) }
        let near = distances.filter { $0.distance <= max(1, $0.candidate.unicodeScalars.count / 3) }
        return near.min { $0.distance < $1.distance }?.candidate
    }
}
