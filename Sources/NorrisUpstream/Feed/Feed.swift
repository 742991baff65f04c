package import NorrisProtocol

/// A feed in RSS, Atom or JSON Feed.
package struct Feed: PostUpstream {
    private let url: String
    private let source: String
    private let transport: any HTTPTransport
    private let executor: (any TaskExecutor)?
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - url: of the document itself.
    ///   - source: the key under `posts.sources`.
    ///   - executor: decodes the answers, which may take seconds.
    package init(
        url: String,
        source: String,
        transport: any HTTPTransport,
        decodingOn executor: (any TaskExecutor)? = nil,
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.url = url
        self.source = source
        self.transport = transport
        self.executor = executor
        self.now = now
    }

    package func posts(
        validators: Validators, timeout: Duration
    ) async throws(UpstreamError) -> Fetched<PostBatch> {
        guard let address = HTTPURL(url) else {
            throw UpstreamError(.decode, "The url of \(source) is no address of http or https.")
        }
        return try await transport.fetchDocument(
            url, accept: Self.types, validators: validators, timeout: timeout, now: now(), on: executor
        ) { [source] response, budget throws(UnusableBody) in
            try decodeFeed(response, at: address, for: source, budget)
        }
    }

    /// What servers that have several forms of one address should choose from.
    private static let types = """
        application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, \
        application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.1
        """
}
