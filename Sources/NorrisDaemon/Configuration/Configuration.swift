import Logging
import NorrisFetchProtocol
import NorrisProtocol
import NorrisServer
import NorrisStore

/// The whole configuration, validated; a key that the file omits has its default.
///
/// `ConfigurationLoader` reads a configuration from YAML; `Configuration()` has only defaults. ``ConfigurationSchema``
/// below has the key of each property.
struct Configuration: Sendable, Equatable {
    /// The lowest level of logged messages.
    var logLevel = Logger.Level.info
    /// The groups whose members may call administrative methods, in addition to root and the daemon's user.
    /// Of the default, groups that do not exist are ignored.
    var adminGroups = ["sudo", "wheel"]
    var limits = Server.Limits()
    /// How requests are sent to upstreams.
    var http = HTTP()
    var facts = Facts()
    var gifs = Gifs()
    var posts = Posts()
}

extension Configuration {
    struct HTTP: Sendable, Equatable {
        /// The limit of a whole request. The defaults are those of norris-fetch run by hand.
        var timeout = Duration.milliseconds(FetchRequest().timeout)
        /// The largest body in bytes, before and after inflating.
        var maximumBody = FetchRequest().maximumBody
        var userAgent = FetchRequest().userAgent
        var proxy: FetchRequest.Proxy?
        /// The time between the end of a fetch of a host and the begin of the next one; zero for no turns.
        var hostGap = Duration.seconds(2)
    }

    /// The facts of api.chucknorris.io and of fortune files.
    struct Facts: Sendable, Equatable {
        var enabled = true
        /// Absolute, without a trailing slash.
        var baseURL = "https://api.chucknorris.io"
        var refresh = Duration.hours(24)
        var queries = ["chuck", "norris"]
        /// Absolute paths of fortune files and folders.
        var fortunes: [String] = []
        /// Whether fortunes are served if a request names no category.
        var mixFortunes = false
    }

    /// The GIFs of Giphy.
    struct Gifs: Sendable, Equatable {
        var enabled = true
        /// Absolute, without a trailing slash.
        var baseURL = "https://api.giphy.com"
        /// The absolute path of the file with the key; nil for the systemd credential, or no key.
        var apiKeyFile: String?
        var rating = Rating.g
        var refresh = Duration.hours(6)
        var queries = ["chuck norris"]
        var keep = Duration.hours(24)
        var hourlyQuota = 100
    }

    /// Giphy's content ratings, mildest first.
    enum Rating: String, Sendable, CaseIterable {
        case g, pg
        case pg13 = "pg-13"
        case r
    }

    /// The posts of any number of sources.
    struct Posts: Sendable, Equatable {
        var refresh = Duration.minutes(30)
        var keep = Duration.days(90)
        /// In the order of the file.
        var sources: [PostSource] = []
    }

    /// One entry of `posts.sources`.
    struct PostSource: Sendable, Equatable {
        /// The key of the entry, `[a-z0-9_-]{1,40}`, neither `facts` nor `gifs`.
        var name: String
        var kind: PostSourceKind
        /// An absolute URL: for `feed` the document, as written; else the base, without a trailing slash. Empty for
        /// `exec`.
        var url: String
        /// The program of `exec`, by its absolute path, and its arguments.
        var command: [String] = []
        var enabled = true
        /// The values of the entry, or of `posts`.
        var refresh, keep: Duration
        var title: String?
        var tags: [String] = []
        /// The number of posts of the first fetch that stay unread; nil for all.
        var unread: Int?
        /// Stored only.
        var article: Bool?
        /// nil for the value of `http`.
        var userAgent: String?
        /// The absolute path of the file of a ``HeadersFile``.
        var headersFile: String?
        /// The stored form of a source that is in `state.db` instead of the configuration.
        var added: AddedSource?
    }
}

/// The table of all keys, used for reading, printing, suggestions and the man page.
package enum ConfigurationSchema {
    static let keys: [ConfigurationKey<Configuration>] = [
        .init(
            section: "log",
            [
                .init("level", \.logLevel, .choice, "The lowest level of messages that are logged.")
            ]),
        .init(
            "admin_groups", \.adminGroups, listOf: .group,
            "Groups whose members may add and remove feeds, reload the configuration and clear the cache, as root may."
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
        .init(section: SourceStatus.facts, facts),
        .init(section: SourceStatus.gifs, gifs),
        .init(section: "posts", posts),
    ]

    private static let http: [ConfigurationKey<Configuration>] = [
        .init("timeout", \.http.timeout, .duration(1...600), "The time limit for a whole request."),
        .init(
            "max_body", \.http.maximumBody, .size(1 << 10...FetchRequest.highestMaximumBody),
            "The largest response, uncompressed."),
        .init("user_agent", \.http.userAgent, .headerValue, "The User-Agent that norrisd sends to upstreams."),
        .init("proxy", \.http.proxy, orNull: .proxy, "The HTTP proxy through which upstreams are reached."),
        .init(
            "host_gap", \.http.hostGap, .duration(0...3600),
            "The pause between two fetches of one host, which take turns; 0s for no turns."),
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
        .init(
            "base_url", \.gifs.baseURL, .baseURLForKey,
            "The API of the GIFs; Giphy's terms forbid a cache that machines share."
        ),
        .init(
            "api_key_file", \.gifs.apiKeyFile, orNull: .keyFile,
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
        // Follows refresh and keep, which the entries inherit.
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

    /// The keys of one source. `kind` is first, because the valid values of `url` depend on the kind.
    static let sourceKeys: [ConfigurationKey<Configuration.PostSource>] = [
        .init(
            "kind", \.kind, .choice, isRequired: true, "The kind of upstream."
        ),
        .init(
            "url", \.url, { .sourceURL($0.kind) }, accepts: ConfigurationKind.sourceURL(.feed).expectation,
            isRequired: true, "\(PostSourceKind.addressSummary)"
        ),
        .init(
            "command", \.command, listOf: .argument,
            "For exec: the program by its absolute path, and its arguments; it prints a feed."
        ),
        .init("enabled", \.enabled, .boolean, "Whether this source is fetched; stored posts are served either way."),
        .init("refresh", \.refresh, .refresh, "How often it is fetched; posts.refresh by default."),
        .init("keep", \.keep, .keep, "How long its posts are kept; posts.keep by default."),
        .init("title", \.title, orNull: .title, "The name that users see; the feed's own by default."),
        .init("tags", \.tags, listOf: .tag, atMost: SourceTag.maximum, "\(SourceTag.summary)"),
        .init(
            "unread", \.unread, orNull: .count(0...2000), "How many posts of its first fetch stay unread; all if null."
        ),
        .init("article", \.article, orNull: .boolean, "Whether each new post gets the text of its page."),
        .init(
            "user_agent", \.userAgent, orNull: .headerValue,
            "The User-Agent that its upstream receives; http.user_agent by default."),
        .init(
            "headers_file", \.headersFile, orNull: .headersFile,
            "A file with up to 16 lines NAME: VALUE that only the host of url receives, or a systemd credential."),
    ]
}

extension Configuration.PostSource {
    /// The entry on one line, with its inherited values.
    fileprivate var yaml: String {
        let unused = kind == .exec ? "url" : "command"
        let keys = ConfigurationSchema.sourceKeys.filter { key in
            key.name != unused && !["null", "[]"].contains(key.write(self))
        }
        return "\(YAMLText.scalar(name)): {\(keys.map { $0.yaml(self) }.joined(separator: ", "))}"
    }
}

extension Configuration {
    /// The configuration as YAML for `--print-config`, in the schema's order.
    ///
    /// The text reads as an equal configuration, except that a proxy's password is written as `***`.
    var yaml: String { ConfigurationSchema.keys.map { $0.yaml(self) + "\n" }.joined() }
}
