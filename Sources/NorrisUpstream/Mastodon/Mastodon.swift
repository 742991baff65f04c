package import NorrisProtocol

/// The public timeline of a Mastodon server, or of one that speaks like it.
package struct Mastodon: PostUpstream {
    /// In the middle of a sentence.
    private let place: String
    private let host: String
    private let url: String
    private let source: String
    private let transport: any HTTPTransport
    private let executor: (any TaskExecutor)?
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - baseURL: of the server; may hold a port and a path, to which that of the API is added.
    ///   - source: the key of the source under `posts.sources`.
    ///   - executor: decodes the answers, which may take seconds.
    package init(
        baseURL: String,
        source: String,
        transport: any HTTPTransport,
        decodingOn executor: (any TaskExecutor)? = nil,
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        let base = HTTPURL(baseURL)
        place = base?.authority ?? "the server"
        host = base?.host ?? ""
        // 40 is the most that a server gives at once.
        url = joinedURL(baseURL, "api/v1/timelines/public?limit=40")
        self.source = source
        self.transport = transport
        self.executor = executor
        self.now = now
    }

    package func posts(
        validators: Validators, timeout: Duration
    ) async throws(UpstreamError) -> Fetched<PostBatch> {
        do throws(UpstreamError) {
            return try await transport.fetchJSON(
                url, validators: validators, timeout: timeout, now: now(), on: executor
            ) { body, budget throws(UnusableBody) in
                try PostBatch(statuses: body, source: source, host: host, budget)
            }
        } catch {
            // Mastodon answers 422 where it means 401.
            guard case .http(let status) = error.kind, status == 401 || status == 422 else { throw error }
            throw UpstreamError(
                error.kind,
                """
                The public timeline of \(place) needs a login (HTTP \(status)), and norrisd has none; \
                put another server into posts.sources.\(source).url.
                """
            )
        }
    }
}
