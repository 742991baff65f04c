import NorrisProtocol

/// What a conditional request brought.
package enum Fetched<Value: Sendable>: Sendable {
    /// 304: what was fetched with the same validators still holds.
    case unchanged(FetchInfo)
    case changed(Value, FetchInfo)

    package var info: FetchInfo {
        switch self {
        case .unchanged(let info), .changed(_, let info): info
        }
    }
}

extension Fetched: Equatable where Value: Equatable {}

/// What to remember of an answer until the next request.
package struct FetchInfo: Sendable, Equatable {
    package var validators: Validators
    /// How long the upstream says its answer keeps, or that it will answer no other request: more than 0, 24 h at most;
    /// nil where it says nothing.
    package var notBefore: Duration?

    package init(validators: Validators = Validators(), notBefore: Duration? = nil) {
        self.validators = validators
        self.notBefore = notBefore
    }

    /// - Parameter sent: the request's validators; those that a 304 does not repeat go on holding.
    init(_ response: HTTPResponse, sent: Validators, now: Timestamp) {
        let received = Validators(response.headers)
        validators = response.status == 304
            ? Validators(
                etag: received.etag ?? sent.etag,
                lastModified: received.lastModified ?? sent.lastModified
            )
            : received
        let isLast = response.headers["x-ratelimit-remaining"] == "0"
        let reset = isLast ? rateLimitReset(response.headers, now: now) : nil
        notBefore = [freshnessLifetime(response.headers, now: now), reset].compactMap(\.self).max()
    }
}
