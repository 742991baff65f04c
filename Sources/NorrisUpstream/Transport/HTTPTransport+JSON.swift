import NorrisProtocol

extension HTTPTransport {
    /// Asks for JSON, unless it is what the validators name.
    ///
    /// - Parameter decode: makes a value of the whole body, or throws what is wrong with it as the end of a sentence
    ///   that begins with the upstream's name.
    /// - Parameter executor: where it does so.
    func fetchJSON<Value: Sendable>(
        _ url: String,
        validators: Validators,
        timeout: Duration,
        now: Timestamp,
        on executor: (any TaskExecutor)?,
        decode: @Sendable ([UInt8], DecodingBudget) throws(UnusableBody) -> Value
    ) async throws(UpstreamError) -> Fetched<Value> {
        try await fetchDocument(
            url, accept: "application/json", validators: validators, timeout: timeout, now: now, on: executor
        ) { response, budget throws(UnusableBody) in
            if let type = response.headers["content-type"], !isJSON(mediaType: type) {
                let name = UpstreamError.cut(String(type.prefix { $0 != ";" }), to: 60)
                throw .fault("answered with \(name) instead of JSON; is the configured address right?")
            }
            return try decode(response.body, budget)
        }
    }
}

/// Whether a `Content-Type` is JSON: `application/json`, `text/json`, or any type with `+json` (RFC 6839).
private func isJSON(mediaType: String) -> Bool {
    let type = mediaType.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
    return type == "application/json" || type == "text/json" || type.hasSuffix("+json")
}
