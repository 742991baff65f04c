import NorrisProtocol

extension HTTPTransport {
    /// Asks for a document, unless it is what the validators name.
    ///
    /// - Parameters:
    ///   - accept: the media types that are wanted.
    ///   - executor: where `decode` works.
    ///   - decode: makes a value of the whole answer, or throws what is wrong with it as the end of a sentence that
    ///     begins with the upstream's name.
    func fetchDocument<Value: Sendable>(
        _ url: String,
        accept: String,
        validators: Validators,
        timeout: Duration,
        now: Timestamp,
        on executor: (any TaskExecutor)?,
        decode: @Sendable (HTTPResponse, DecodingBudget) throws(UnusableBody) -> Value
    ) async throws(UpstreamError) -> Fetched<Value> {
        let headers = [(name: "Accept", value: accept)] + validators.headers
        let response = try await send(HTTPRequest(url: url, headers: headers, timeout: timeout))
        let info = FetchInfo(response, sent: validators, now: now)
        if response.status == 304 { return .unchanged(info) }
        do throws(UnusableBody) {
            let value = try await withTaskExecutorPreference(executor) { () throws(UnusableBody) in
                // Here, for its clock is that of the thread.
                let budget = DecodingBudget()
                let value = try decode(response, budget)
                try budget.check()
                return value
            }
            return .changed(value, info)
        } catch {
            switch error {
            case .cancelled:
                throw .cancelled
            case .fault(let fault):
                let place = HTTPURL(url)?.place ?? "The upstream"
                throw UpstreamError(.decode, "\(place) \(fault)\(fault.last == "?" ? "" : ".")")
            }
        }
    }
}

/// Why an answer gives no value.
enum UnusableBody: Error {
    case fault(String)
    case cancelled
}
