package import NorrisProtocol

/// The API of chucknorris.io, or of a server that speaks like it.
package struct Chucknorris: Sendable {
    private let baseURL: String
    private let transport: any HTTPTransport
    private let timeout: Duration
    private let executor: (any TaskExecutor)?
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - baseURL: may hold a port and a path, to which those of the API are added.
    ///   - timeout: for a whole request that has none of its own.
    ///   - executor: decodes the answers, which may take seconds.
    package init(
        baseURL: String,
        transport: any HTTPTransport,
        timeout: Duration,
        decodingOn executor: (any TaskExecutor)? = nil,
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        var baseURL = baseURL
        while baseURL.last == "/" { baseURL.removeLast() }
        self.baseURL = baseURL
        self.transport = transport
        self.timeout = timeout
        self.executor = executor
        self.now = now
    }

    /// All facts that hold a text, whatever the case.
    ///
    /// - Parameter query: 3...120 UTF-16 units, else the upstream answers 400; `%` and `_` are wildcards there.
    package func search(
        _ query: String, validators: Validators = Validators(), timeout: Duration? = nil
    ) async throws(UpstreamError) -> Fetched<FactBatch> {
        try await transport.fetchJSON(
            "\(baseURL)/jokes/search?query=\(percentEncoded(query))",
            validators: validators, timeout: timeout ?? self.timeout, now: now(), on: executor
        ) { body, budget throws(UnusableBody) in
            try FactBatch(searchResult: body, budget)
        }
    }

    /// The names of all categories.
    package func categories(
        validators: Validators = Validators(), timeout: Duration? = nil
    ) async throws(UpstreamError) -> Fetched<[String]> {
        try await transport.fetchJSON(
            "\(baseURL)/jokes/categories",
            validators: validators, timeout: timeout ?? self.timeout, now: now(), on: executor
        ) { body, budget throws(UnusableBody) in
            var names: [JSON] = []
            try JSONItems.forEach(in: body, under: nil, budget) { item throws(UnusableBody) in
                // A name is short; so is the list, and no upstream makes it long.
                if item.count <= 300, names.count < 1000, let json = try? JSON.parse(item) { names.append(json) }
            }
            return Fact.categoryNames(names)
        }
    }
}
