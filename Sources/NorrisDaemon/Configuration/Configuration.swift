/// Everything the configuration file can say, checked and complete: what the file leaves out has its default.
///
/// `ConfigurationLoader` makes one from YAML; `Configuration()` holds the defaults alone. Which keys there are, what
/// they accept and what they mean stands once, in `ConfigurationSchema`.
package struct Configuration: Sendable, Equatable {
    package var log = Log()
    /// Names of the groups whose members may call administrative methods; empty: only root and the daemon's own user.
    package var adminGroups: [String] = []
    package var limits = Limits()
    package var http = HTTP()
    package var facts = Facts()
    package var gifs = Gifs()
    package var posts = Posts()

    package init() {}
}

extension Configuration {
    /// What is logged.
    package struct Log: Sendable, Equatable {
        package var level = LogLevel.info

        package init() {}
    }

    /// The levels of `log.level` and `--log-level`, lowest first; the raw values are those of swift-log.
    package enum LogLevel: String, Sendable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    /// How many connections are served at a time.
    package struct Limits: Sendable, Equatable {
        package var connections = 4096
        package var connectionsPerUser = 256

        package init() {}
    }

    /// How upstreams are asked.
    package struct HTTP: Sendable, Equatable {
        /// For a whole request, redirects and body included.
        package var timeout = Duration.seconds(10)
        /// Bytes of a response body, counted after inflating.
        package var maxBody = 16 << 20
        /// The `User-Agent` header, printable ASCII.
        package var userAgent = "norrisd/1 (+url)"
        package var proxy: HTTPProxy?

        package init() {}
    }

    /// The facts of api.chucknorris.io and of fortune files.
    package struct Facts: Sendable, Equatable {
        package var enabled = true
        /// Absolute, without a trailing slash.
        package var baseURL = "https://api.chucknorris.io"
        package var refresh = Duration.hours(24)
        package var queries = ["chuck", "norris"]
        /// Absolute paths of fortune files and folders.
        package var fortunes: [String] = []

        package init() {}
    }

    /// The pictures of Giphy.
    package struct Gifs: Sendable, Equatable {
        package var enabled = true
        /// Absolute, without a trailing slash.
        package var baseURL = "https://api.giphy.com"
        /// Absolute path of a file that holds the key; nil: the systemd credential, or no key.
        package var apiKeyFile: String?
        package var rating = Rating.g
        package var refresh = Duration.hours(6)
        package var queries = ["chuck norris"]
        package var keep = Duration.hours(24)
        package var hourlyQuota = 100

        package init() {}
    }

    /// Giphy's content ratings, mildest first.
    package enum Rating: String, Sendable, CaseIterable {
        case g, pg
        case pg13 = "pg-13"
        case r
    }

    /// The posts of any number of sources.
    package struct Posts: Sendable, Equatable {
        package var refresh = Duration.minutes(30)
        package var keep = Duration.days(90)
        /// In the order of the file.
        package var sources: [PostSource] = []

        package init() {}
    }

    /// One entry of `posts.sources`.
    package struct PostSource: Sendable, Equatable {
        /// The key of the entry, `[a-z0-9_-]{1,40}`, neither `facts` nor `gifs`.
        package var name: String
        package var kind: PostSourceKind
        /// Absolute. For `feed` the document, as written; else the base, without a trailing slash.
        package var url: String
        package var enabled = true
        /// Its own, or that of `posts`.
        package var refresh: Duration
        /// Its own, or that of `posts`.
        package var keep: Duration

        package init(
            name: String, kind: PostSourceKind, url: String, enabled: Bool = true, refresh: Duration, keep: Duration
        ) {
            self.name = name
            self.kind = kind
            self.url = url
            self.enabled = enabled
            self.refresh = refresh
            self.keep = keep
        }
    }

    /// What speaks at the other end of a source of posts.
    package enum PostSourceKind: String, Sendable, CaseIterable {
        case feed, mastodon
        case usersPosts = "users-posts"
    }
}
