import NorrisProtocol
import NorrisThreads

struct Fetcher: Sendable {
    let transport: any HTTPTransport
    /// Runs the decoding, which may take seconds; nil for the caller's executor.
    let executor: (any TaskExecutor)?
    /// Whether a damaged response is requested again past the caches on the way.
    var asksPastCaches = true
    /// Whether caches on the way may store the responses.
    var allowsStorage = true

    /// Ensures that only one large document is decoded at a time. Small documents do not wait.
    static let largeDocuments = AsyncLock()

    /// Fetches a document, unless the version of the validators is current. `decode` throws
    /// ``UpstreamError/unusable(_:)``.
    ///
    /// A damaged response may come from a cache on the way, and the upstream's own response may be good. Therefore such
    /// a document is requested once more, past the caches (RFC 9111, section 5.2.1.4).
    func document<Value: Sendable>(
        _ url: String, accept: String, _ validators: Validators, _ timeout: Duration,
        decode: @Sendable (inout HTTPResponse, DecodingBudget) throws(UpstreamError) -> Value
    ) async throws(UpstreamError) -> Fetched<Value> {
        let forbidden = allowsStorage ? [] : [(name: "Cache-Control", value: "no-store")]
        let headers = [(name: "Accept", value: accept)] + forbidden
        let deadline = ContinuousClock.now + timeout
        do throws(UpstreamError) {
            return try await document(url, headers, validators, timeout, decode)
        } catch  where error.isDamage && asksPastCaches {
            let rest = ContinuousClock.now.duration(to: deadline)
            guard rest > .zero else { throw error }
            do throws(UpstreamError) {
                return try await document(url, headers + [("Cache-Control", "no-cache")], validators, rest, decode)
            } catch let second where second.kind == .timeout {
                // The second request had less time, so that its timeout is no property of the upstream.
                throw error
            }
        }
    }

    private func document<Value: Sendable>(
        _ url: String, _ headers: [(name: String, value: String)], _ validators: Validators, _ timeout: Duration,
        _ decode: @Sendable (inout HTTPResponse, DecodingBudget) throws(UpstreamError) -> Value
    ) async throws(UpstreamError) -> Fetched<Value> {
        let headers = headers + validators.headers
        var response = try await transport.send(HTTPRequest(url: url, headers: headers, timeout: timeout))
        let info = FetchInfo(response, sent: validators)
        if response.status == 304 { return .unchanged(info) }
        let isLarge = response.body.count > BodyMemory.maximumSmall
        if isLarge, await !Fetcher.largeDocuments.lock() { throw .cancelled }
        defer { if isLarge { Fetcher.largeDocuments.unlock() } }
        do throws(UpstreamError) {
            let value = try await withTaskExecutorPreference(executor) { () throws(UpstreamError) in
                // Created on the decoding thread, because the budget measures the CPU time of that thread.
                let budget = DecodingBudget(isLarge: isLarge)
                let value = try decode(&response, budget)
                try budget.check()
                return value
            }
            return .changed(value, info)
        } catch  where error.kind == .decode && !error.isComplete {
            let end = error.message.last == "?" ? "" : "."
            let message = "\(HTTPURL(url)?.hostAndPath ?? "The upstream") \(error.message)\(end)"
            var error = error
            error.message = UpstreamError(.decode, message).message
            throw error
        }
    }

    /// Fetches a JSON document, unless the version of the validators is current.
    func json<Value: Sendable>(
        _ url: String, _ validators: Validators, _ timeout: Duration,
        decode: @Sendable (inout HTTPResponse, DecodingBudget) throws(UpstreamError) -> Value
    ) async throws(UpstreamError) -> Fetched<Value> {
        try await document(url, accept: "application/json", validators, timeout) {
            response, budget throws(UpstreamError) in
            if let type = response.headers["content-type"], !isJSON(mediaType: type) {
                let name = UpstreamError.cut(String(type.prefix { $0 != ";" }), to: 60)
                throw .unusable("answered with \(name) instead of JSON; is the configured address right?")
            }
            return try decode(&response, budget)
        }
    }
}

/// Whether a `Content-Type` is JSON: `application/json`, `text/json`, or any type with `+json` (RFC 6839).
private func isJSON(mediaType: String) -> Bool {
    let type = mediaType.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
    return type == "application/json" || type == "text/json" || type.hasSuffix("+json")
}

/// The result of a conditional request.
package enum Fetched<Value: Sendable>: Sendable {
    /// Status 304: the content fetched with the same validators is current.
    case unchanged(FetchInfo)
    case changed(Value, FetchInfo)

    package var info: FetchInfo {
        switch self {
        case .unchanged(let info), .changed(_, let info): info
        }
    }
}

extension Fetched: Equatable where Value: Equatable {}

/// The parts of a response that affect the next request.
package struct FetchInfo: Sendable, Equatable {
    package var validators: Validators
    /// The longer of freshness and rate limit: more than 0, at most 24 h; nil if the response states neither.
    package var notBefore: Duration?
    /// The age of a response from a cache.
    package var age = Duration.zero
    /// Whether a cache has sent the response although it is no longer fresh.
    package var isStale = false

    package init(validators: Validators = Validators(), notBefore: Duration? = nil) {
        (self.validators, self.notBefore) = (validators, notBefore)
    }

    /// Takes the later time, the higher age and the staleness of another response of the same run.
    package mutating func combine(with other: FetchInfo) {
        notBefore = [notBefore, other.notBefore].compactMap(\.self).max()
        age = max(age, other.age)
        isStale = isStale || other.isStale
    }
}

extension FetchInfo {
    /// - Parameter sent: the validators of the request; a 304 keeps those that it does not repeat.
    init(_ response: HTTPResponse, sent: Validators) {
        validators = Validators(response.headers)
        if response.status == 304 {
            validators.etag = validators.etag ?? sent.etag
            validators.lastModified = validators.lastModified ?? sent.lastModified
        }
        let isLast = response.headers["x-ratelimit-remaining"] == "0"
        let reset = isLast ? rateLimitReset(response.headers, now: response.receivedAt) : nil
        notBefore = [freshnessLifetime(response.headers, now: response.receivedAt), reset].compactMap(\.self).max()
        age = responseAge(response.headers, now: response.receivedAt)
        isStale = NorrisUpstream.isStale(response.headers, now: response.receivedAt)
    }
}

/// The validators of a version of an upstream's content (RFC 9110, section 8.8), byte for byte.
package struct Validators: Sendable, Equatable {
    package var etag: String?
    package var lastModified: String?

    package init(etag: String? = nil, lastModified: String? = nil) {
        self.etag = etag
        self.lastModified = lastModified
    }

    /// Ignores a validator that cannot be repeated unchanged: empty, over 1 KiB, not UTF-8, or with controls.
    init(_ headers: HTTPHeaderFields) {
        func usable(_ name: String) -> String? {
            guard let value = headers[name], (1...1024).contains(value.utf8.count) else { return nil }
            let isClean = value.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0 != "\u{FFFD}" }
            return isClean ? value : nil
        }
        etag = usable("etag")
        lastModified = usable("last-modified")
    }

    var headers: [(name: String, value: String)] {
        [("If-None-Match", etag), ("If-Modified-Since", lastModified)].compactMap { name, value in
            value.map { (name: name, value: $0) }
        }
    }
}
