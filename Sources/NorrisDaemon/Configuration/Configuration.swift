import Logging
import NorrisProtocol
import NorrisServer
import NorrisStore

/// The whole configuration, validated; a key that the file omits has its default.
///
/// `ConfigurationLoader` reads a configuration from YAML; `Configuration()` has only defaults. `ConfigurationSchema`
/// describes all keys.
struct Configuration: Sendable, Equatable {
    /// The lowest level of logged messages.
    var logLevel = Logger.Level.info
    /// The groups whose members may call administrative methods, in addition to root and the daemon's user.
    var adminGroups: [String] = []
    var limits = Server.Limits()
    /// How requests are sent to upstreams.
    var http = HTTP()
    var facts = Facts()
    var gifs = Gifs()
    var posts = Posts()
}

extension Configuration {
    struct HTTP: Sendable, Equatable {
        /// The limit of a whole request.
        var timeout = Duration.seconds(10)
        /// The largest body in bytes, before and after inflating.
        var maximumBody = 16 << 20
        var userAgent = "norrisd/\(NorrisVersion.current)"
        var proxy: FetchRequest.Proxy?
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
        /// The stored form of a source that is in `state.db` instead of the configuration.
        var added: AddedSource?
    }
}
