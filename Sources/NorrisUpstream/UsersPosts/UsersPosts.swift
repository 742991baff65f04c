package import NorrisProtocol

/// An API that lists its users with their posts, each post some pictures and a date.
package struct UsersPosts: PostUpstream {
    private let url: String
    private let source: String
    private let transport: any HTTPTransport
    private let executor: (any TaskExecutor)?
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - baseURL: may hold a port and a path, to which `/users/posts` is added.
    ///   - source: the key of the source under `posts.sources`.
    ///   - executor: decodes the answers, which may take seconds.
    package init(
        baseURL: String,
        source: String,
        transport: any HTTPTransport,
        decodingOn executor: (any TaskExecutor)? = nil,
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        url = joinedURL(baseURL, "users/posts")
        self.source = source
        self.transport = transport
        self.executor = executor
        self.now = now
    }

    package func posts(
        validators: Validators, timeout: Duration
    ) async throws(UpstreamError) -> Fetched<PostBatch> {
        try await transport.fetchJSON(
            url, validators: validators, timeout: timeout, now: now(), on: executor
        ) { body, budget throws(UnusableBody) in
            try PostBatch(usersPosts: body, source: source, budget)
        }
    }
}
