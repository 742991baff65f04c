package import Logging
package import NorrisProtocol

/// Sends requests with libcurl. Redirects, limits and errors are handled by norrisd.
package struct CurlTransport: HTTPTransport {
    private let settings: HTTPSettings
    private let logger: Logger
    private let now: @Sendable () -> Timestamp
    private let base: HTTPURL?
    /// Whether redirects may lead to private addresses.
    private let baseIsPrivate: Bool

    /// - Parameters:
    ///   - baseURL: the configured URL of the upstream. Its redirects may lead to private addresses only if its host is
    ///     written as a private address or as localhost; the addresses of a name do not count.
    ///   - baseIsPrivate: replaces that check in tests, which have no public address.
    ///   - now: the time with which dates in header fields are compared.
    package init(
        baseURL: String, settings: HTTPSettings, logger: Logger, baseIsPrivate: Bool? = nil,
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.settings = settings
        self.logger = logger
        self.now = now
        base = HTTPURL(baseURL)
        self.baseIsPrivate = baseIsPrivate ?? base?.hasPrivateHost ?? false
    }

    package func send(_ request: HTTPRequest) async throws(UpstreamError) -> HTTPResponse {
        guard let first = HTTPURL(request.url) else {
            throw UpstreamError(.decode, "The address is not an http or https URL; correct the configured address.")
        }
        var url = first
        let deadline = ContinuousClock.now + request.timeout
        // With a proxy, the peer's address is unknown, so that only names can be checked.
        let checksNames = settings.proxy != nil && !baseIsPrivate
        let checksPeers = settings.proxy == nil && !baseIsPrivate
        var redirects = 0
        var refusal: UpstreamError?
        while true {
            let exchange = await FetchThread.shared.fetch(
                Fetch(
                    url: url, headers: request.headers, settings: settings, timeout: request.timeout,
                    deadline: deadline, privatePeerRefusal: refusal))
            // A failure after the head is ignored here, because the status decides.
            if let failure = exchange.failure, exchange.status == 0 || failure.kind == .cancelled { throw failure }
            let target = try redirectTarget(
                of: url, status: exchange.status, location: exchange.headers["location"], after: redirects,
                mayBePrivate: !checksNames)
            guard let target else {
                // Logs the first URL only, because an upstream may repeat the key in the URL of a redirect.
                let metadata = ["http.url": first.hostAndPath, "http.status": "\(exchange.status)"]
                logger.debug("http.response", metadata: metadata.mapValues { .string($0) })
                return try response(exchange, from: url, to: request)
            }
            let isChecked = checksPeers && target.host != base?.host
            refusal = isChecked ? refusalOfPrivate(target, from: url, exchange.status) : nil
            redirects += 1
            url = target
        }
    }

    private func response(
        _ exchange: Exchange, from url: HTTPURL, to request: HTTPRequest
    ) throws(UpstreamError) -> HTTPResponse {
        let status = exchange.status
        switch status {
        case 304:
            let fields = ["if-none-match", "if-modified-since"]
            guard request.headers.contains(where: { fields.contains($0.name.lowercased()) }) else {
                var error = UpstreamError(.decode, "\(url.hostAndPath) answered 304 to a request without validators.")
                error.isDamage = true
                throw error
            }
        case 200:
            if var failure = exchange.failure {
                // The response ended early.
                if failure.kind == .offline { failure.isDamage = true }
                throw failure
            }
        case 407 where settings.proxy != nil && !url.isSecure: throw .refusedByProxy
        default:
            throw UpstreamError(status: status, from: url, headers: exchange.headers, body: exchange.body, now: now())
        }
        return HTTPResponse(
            status: status, headers: exchange.headers, body: exchange.body, url: url, receivedAt: now(),
            memory: exchange.memory)
    }
}

let redirectStatuses: Set<Int> = [301, 302, 303, 307, 308]

/// The target of a redirect; nil for another response. At most three redirects are followed, from https to https.
///
/// - Parameter mayBePrivate: false to refuse a host with a private name; ``Transfer`` checks the peer's address.
func redirectTarget(
    of url: HTTPURL, status: Int, location: String?, after followed: Int, mayBePrivate: Bool
) throws(UpstreamError) -> HTTPURL? {
    guard redirectStatuses.contains(status) else { return nil }
    guard let target = location.flatMap(url.resolving) else {
        let fault = "redirects to something that is not an http or https URL; configure the final address."
        throw UpstreamError(.http(status: status), "\(url.hostAndPath) \(fault)")
    }
    guard url.isSecure && target.isSecure else {
        throw refusal(of: target, from: url, status, "only redirects from https to https are followed")
    }
    guard mayBePrivate || !target.hasPrivateHost else { throw refusalOfPrivate(target, from: url, status) }
    guard followed < 3 else { throw refusal(of: target, from: url, status, "at most 3 redirects are followed") }
    return target
}

private func refusalOfPrivate(_ target: HTTPURL, from url: HTTPURL, _ status: Int) -> UpstreamError {
    refusal(of: target, from: url, status, "redirects to private addresses are not followed")
}

private func refusal(of target: HTTPURL, from url: HTTPURL, _ status: Int, _ reason: String) -> UpstreamError {
    let target = "\(target.scheme)://\(target.hostAndPath)"
    let message = "\(url.hostAndPath) redirects to \(target), but \(reason); configure that address."
    return UpstreamError(.http(status: status), message)
}
