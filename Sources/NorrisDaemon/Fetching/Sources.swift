import Logging
import NorrisProtocol
import NorrisUpstream
import SystemdIntegration

/// The sources that a configuration makes.
struct Sources: Sendable {
    let facts: FactSource
    let gifs: GifSource
    /// In the order of the file.
    let posts: [PostSource]

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
    }

    /// In the order of the status.
    var all: [any ContentSource] { [facts, gifs] + posts }

    /// nil for a name that none of them has.
    subscript(name: String) -> (any ContentSource)? {
        all.first { $0.name.hasSameBytes(as: name) }
    }

    /// The names of the sources of posts: only theirs are shown.
    var postNames: [String] { posts.map(\.name) }
}
