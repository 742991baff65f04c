package import Logging
package import NorrisProtocol
import Synchronization

/// Sends requests over the network with libcurl, under redirects, limits and errors of our own.
///
/// A transport that is no longer needed must be shut down.
package final class CurlTransport: HTTPTransport {
    private let settings: HTTPSettings
    private let logger: Logger
    private let now: @Sendable () -> Timestamp
    private let base: HTTPURL?
    /// Whether redirects may lead to private addresses.
    private let baseIsPrivate: Bool
    private let isShutDown = Atomic(false)

    /// - Parameters:
    ///   - baseURL: of the upstream, as configured. Its redirects may lead to private addresses only if its host is
    ///     written as one, or is localhost; what its name resolves to does not count.
    ///   - now: what dates in header fields are compared with.
    package convenience init(
        baseURL: String,
        settings: HTTPSettings,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.init(baseURL: baseURL, settings: settings, logger: logger, now: now, assumingBaseIsPrivate: nil)
    }

    /// - Parameter assumingBaseIsPrivate: in place of a look at `baseURL`; for tests, which have no public address.
    init(
        baseURL: String,
        settings: HTTPSettings,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp,
        assumingBaseIsPrivate: Bool?
    ) {
        self.settings = settings
        self.logger = logger
        self.now = now
        base = HTTPURL(baseURL)
        baseIsPrivate = assumingBaseIsPrivate ?? base?.hasPrivateHost ?? false
    }

    /// Cancels the requests under way; further ones are cancelled at once.
    package func shutdown() {
        isShutDown.store(true, ordering: .sequentiallyConsistent)
        FetchThread.shared.cancel(allOf: ObjectIdentifier(self))
    }

    package func send(_ request: HTTPRequest) async throws(UpstreamError) -> HTTPResponse {
        guard var url = HTTPURL(request.url) else {
            throw UpstreamError(.decode, "The address is no http or https URL; correct the configured address.")
        }
        let deadline = ContinuousClock.now + request.timeout
        // A proxy's address tells nothing of where it connects to, so names are all there is to check.
        let checksNames = settings.proxy != nil && !baseIsPrivate
        let checksPeers = settings.proxy == nil && !baseIsPrivate
        var policy = RedirectPolicy()
        var refusal: UpstreamError?
        while true {
            let exchange = await exchange(url, request, deadline, refusal)
            // What comes after a head may fail: the status counts.
            if let failure = exchange.failure, exchange.status == 0 || failure.kind == .cancelled { throw failure }
            let target = try policy.target(
                of: url, status: exchange.status, location: exchange.headers["location"], mayBePrivate: !checksNames
            )
            guard let target else { return try answer(exchange, from: url, to: request) }
            let isChecked = checksPeers && target.host != base?.host
            refusal = isChecked ? RedirectPolicy.refusalOfPrivate(target, from: url, exchange.status) : nil
            url = target
        }
    }

    private func exchange(
        _ url: HTTPURL, _ request: HTTPRequest, _ deadline: ContinuousClock.Instant, _ refusal: UpstreamError?
    ) async -> Exchange {
        let thread = FetchThread.shared
        let id = thread.newID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if isCancelled { return continuation.resume(returning: Exchange(failure: .cancelled)) }
                thread.start(
                    Fetch(
                        id: id, owner: ObjectIdentifier(self), url: url, headers: request.headers, settings: settings,
                        timeout: request.timeout, deadline: deadline, privatePeerRefusal: refusal,
                        continuation: continuation
                    )
                )
                // A cancellation between the check above and the start found nothing to cancel.
                if isCancelled { thread.cancel(id) }
            }
        } onCancel: {
            thread.cancel(id)
        }
    }

    private var isCancelled: Bool { Task.isCancelled || isShutDown.load(ordering: .sequentiallyConsistent) }

    /// The response of an exchange that is no redirect.
    private func answer(
        _ exchange: Exchange, from url: HTTPURL, to request: HTTPRequest
    ) throws(UpstreamError) -> HTTPResponse {
        let status = exchange.status
        // Of what was asked: where a redirect leads is an upstream's text, and it may have put a key into it.
        let place = HTTPURL(request.url)?.place ?? ""
        logger.debug("http.answer", metadata: ["http.place": "\(place)", "http.status": "\(status)"])
        switch status {
        case 304:
            guard request.isConditional else {
                throw UpstreamError(.decode, "\(url.place) answered 304, but was not asked for a change.")
            }
            return HTTPResponse(status: status, headers: exchange.headers)
        case 200:
            try checkEncoding(exchange.headers, url)
            if let failure = exchange.failure { throw failure }
            return HTTPResponse(status: status, headers: exchange.headers, body: exchange.body, url: url)
        case 407 where settings.proxy != nil && !url.isSecure:
            throw .refusedByProxy
        default:
            throw UpstreamError(status: status, from: url, headers: exchange.headers, body: exchange.body, now: now())
        }
    }

    /// Refuses a coding that was not asked for, although libcurl may know it; gzip and deflate are inflated on the way.
    private func checkEncoding(_ headers: HTTPHeaderFields, _ url: HTTPURL) throws(UpstreamError) {
        let coding = headers.all("content-encoding").joined(separator: ", ").lowercased()
        guard ["gzip", "deflate", "identity", ""].contains(coding) else {
            let name = UpstreamError.cut(coding, to: 40)
            throw UpstreamError(.decode, "\(url.place) answered in the coding \(name), which was not asked for.")
        }
    }
}

extension HTTPRequest {
    /// Whether 304 is an answer to it.
    fileprivate var isConditional: Bool {
        headers.contains { ["if-none-match", "if-modified-since"].contains($0.name.lowercased()) }
    }
}
