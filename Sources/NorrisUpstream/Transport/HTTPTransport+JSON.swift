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
        decode: @Sendable ([UInt8]) throws(UnusableBody) -> Value
    ) async throws(UpstreamError) -> Fetched<Value> {
        let headers = [(name: "Accept", value: "application/json")] + validators.headers
        let response = try await send(HTTPRequest(url: url, headers: headers, timeout: timeout))
        let info = FetchInfo(response, sent: validators, now: now)
        if response.status == 304 { return .unchanged(info) }
        let place = HTTPURL(url)?.place ?? "The upstream"
        if let type = response.headers["content-type"], !isJSON(mediaType: type) {
            let name = UpstreamError.cut(String(type.prefix { $0 != ";" }), to: 60)
            throw UpstreamError(.decode, "\(place) answered with \(name) instead of JSON; is base_url right?")
        }
        do throws(UnusableBody) {
            let value = try await withTaskExecutorPreference(executor) { () throws(UnusableBody) in
                try decode(response.body)
            }
            return .changed(value, info)
        } catch {
            switch error {
            case .cancelled: throw .cancelled
            case .fault(let fault): throw UpstreamError(.decode, "\(place) \(fault).")
            }
        }
    }
}

/// Why a body gives no value.
enum UnusableBody: Error {
    case fault(String)
    case cancelled
}

/// Whether a `Content-Type` is JSON: `application/json`, `text/json`, or any type with `+json` (RFC 6839).
private func isJSON(mediaType: String) -> Bool {
    let type = mediaType.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
    return type == "application/json" || type == "text/json" || type.hasSuffix("+json")
}
