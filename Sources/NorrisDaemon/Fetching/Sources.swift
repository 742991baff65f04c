import Logging
import NorrisProtocol
import NorrisUpstream
import SystemdIntegration

/// The sources that a configuration makes. They are looked up for every reply, so nothing is made then.
final class Sources: Sendable {
    let facts: FactSource
    let gifs: GifSource
    /// In the order of the file.
    let posts: [PostSource]
    /// In the order of the status.
    let all: [any ContentSource]
    private let byName: [String: any ContentSource]

    init(
        _ configuration: Configuration, stores: Stores, knownCategories: KnownCategories, gifRun: GifRun,
        environment: FetchingEnvironment, logger: Logger
    ) {
        let http = HTTPSettings(configuration.http, trustRoots: environment.trustRoots)
        facts = FactSource(
            configuration: configuration.facts, http: http, store: stores.facts, records: stores.fetches,
            knownCategories: knownCategories, logger: logger
        )
        gifs = GifSource(
            configuration: configuration.gifs, key: GiphyKey(configuration.gifs, environment.credentials), http: http,
            run: gifRun, stores: stores, clock: environment.clock, logger: logger
        )
        posts = configuration.posts.sources.map {
            PostSource(configuration: $0, http: http, stores: stores, logger: logger)
        }
        all = [facts, gifs] + posts
        // Names are of ASCII, and no two are the same: the configuration sees to both.
        byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
        if let impediment = gifs.impediment {
            // Most who have no key want none; who gave one wants it to be of use.
            logger.log(
                level: gifs.key.wasGiven ? .warning : .notice, "source.impeded",
                metadata: ["source": "\(gifs.name)", "error": "\(impediment.message)"]
            )
        }
    }

    /// nil for a name that none of them has.
    subscript(name: String) -> (any ContentSource)? { byName[name] }

    /// The names of the sources of posts: only theirs are shown.
    var postNames: [String] { posts.map(\.name) }
}

extension HTTPSettings {
    init(_ http: Configuration.HTTP, trustRoots: String?) {
        self.init(
            timeout: http.timeout, maximumBody: http.maxBody, userAgent: http.userAgent, proxy: http.proxy,
            trustRoots: trustRoots
        )
    }
}
