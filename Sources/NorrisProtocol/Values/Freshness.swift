/// How old the content of a reply is, and whether its source can be fetched.
package struct Freshness: SharedObject {
    /// Where the items came from.
    package struct Origin: OpenString {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }
        /// The upstream was asked for this very reply and answered.
        package static let upstream = Origin(rawValue: "upstream")
        package static let cache = Origin(rawValue: "cache")
        /// Every item is from the starting collection or a fortune file.
        package static let builtin = Origin(rawValue: "builtin")
        /// No items, and nothing was ever fetched.
        package static let none = Origin(rawValue: "none")
        package static let all = [upstream, cache, builtin, none]
    }

    /// What the age of the last success means.
    package struct State: OpenString {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }
        package static let fresh = State(rawValue: "fresh")
        /// The last success is older than one and a half refresh intervals, or there was none.
        package static let stale = State(rawValue: "stale")
        /// There are no items.
        package static let empty = State(rawValue: "empty")
        package static let all = [fresh, stale, empty]
    }

    package var origin: Origin
    package var state: State
    package var fetchedAt: Timestamp?
    package var ageSeconds: Int?
    /// The source's last failure until its next success; content and a failure may come together. The one member of
    /// the protocol that is null where it is unknown: it is what a script tests.
    package var error: SourceFailure?

    package init(
        origin: Origin, state: State, fetchedAt: Timestamp? = nil, ageSeconds: Int? = nil, error: SourceFailure? = nil
    ) {
        (self.origin, self.state, self.fetchedAt) = (origin, state, fetchedAt)
        (self.ageSeconds, self.error) = (ageSeconds, error)
    }

    package static let schemaName = "Freshness"

    package init() { self.init(origin: .none, state: .empty) }

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("origin", &origin)
        try members.required("state", &state)
        try members.optional("fetched_at", &fetchedAt)
        try members.optional("age_seconds", &ageSeconds)
        try members.nullable("error", &error)
    }
}

/// The last failure of a source, as `freshness.error` carries it.
package struct SourceFailure: WireObject, Equatable, Sendable {
    package struct Kind: OpenString {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }
        package static let offline = Kind(rawValue: "offline")
        package static let timeout = Kind(rawValue: "timeout")
        package static let http = Kind(rawValue: "http")
        package static let quota = Kind(rawValue: "quota")
        package static let decode = Kind(rawValue: "decode")
        package static let credentials = Kind(rawValue: "credentials")
        package static let all: [Kind] = [.offline, .timeout, .http, .quota, .decode, .credentials]
    }

    package var kind: Kind
    /// One sentence for a person.
    package var message: String
    package var since: Timestamp
    package var retryAt: Timestamp?

    package init(kind: Kind, message: String, since: Timestamp, retryAt: Timestamp? = nil) {
        (self.kind, self.message, self.since, self.retryAt) = (kind, message, since, retryAt)
    }

    package init() { self.init(kind: .offline, message: "", since: Timestamp(seconds: 0)) }

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("kind", &kind)
        try members.required("message", &message)
        try members.required("since", &since)
        try members.optional("retry_at", &retryAt)
    }
}

/// What of a source's schedule outlives the daemon's process, so that a restart makes no request sooner than it says.
package struct ScheduleRecord: Equatable, Sendable {
    /// nil before the first run.
    package var nextRunAt: Timestamp?
    /// No request goes out before, unless somebody refreshes the source.
    package var backoffUntil: Timestamp?
    /// No request goes out before: the upstream's rate limit.
    package var retryAt: Timestamp?
    /// Runs that failed in a row.
    package var failures: Int
    /// The last failure, of a run or a search, until the next success; since the first of those in a row. Its `retryAt`
    /// is not stored, but follows from the schedule.
    package var failure: SourceFailure?
    /// When the last failure was.
    package var failedAt: Timestamp?
    /// The settings of the last run that ended.
    package var settings: String?
    /// Whether there was content when it had ended.
    package var hadContent: Bool

    package init(
        nextRunAt: Timestamp? = nil, backoffUntil: Timestamp? = nil, retryAt: Timestamp? = nil, failures: Int = 0,
        failure: SourceFailure? = nil, failedAt: Timestamp? = nil, settings: String? = nil, hadContent: Bool = false
    ) {
        (self.nextRunAt, self.backoffUntil, self.retryAt) = (nextRunAt, backoffUntil, retryAt)
        (self.failures, self.failure, self.failedAt) = (failures, failure, failedAt)
        (self.settings, self.hadContent) = (settings, hadContent)
    }
}

/// One source in the result of `server.status`.
package struct SourceStatus: SharedObject {
    /// `facts`, `gifs`, or a key under `posts.sources`.
    package var name: String
    /// Which upstream it is, such as `chucknorris`.
    package var kind: String
    package var isEnabled: Bool
    /// False where it needs a key and was given none, which is no fault; nil otherwise.
    package var isConfigured: Bool?
    package var items: Int
    package var freshness: Freshness
    package var nextRunAt: Timestamp?
    package var consecutiveFailures: Int
    package var quota: Quota?

    /// A budget of requests and what is used of it.
    package struct Quota: WireObject, Equatable, Sendable {
        package var limit: Int
        package var used: Int
        package var resetsAt: Timestamp

        package init(limit: Int, used: Int, resetsAt: Timestamp) {
            (self.limit, self.used, self.resetsAt) = (limit, used, resetsAt)
        }

        package init() { self.init(limit: 0, used: 0, resetsAt: Timestamp(seconds: 0)) }

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("limit", &limit)
            try members.required("used", &used)
            try members.required("resets_at", &resetsAt)
        }
    }

    package init(
        name: String, kind: String, isEnabled: Bool, isConfigured: Bool? = nil, items: Int, freshness: Freshness,
        nextRunAt: Timestamp? = nil, consecutiveFailures: Int = 0, quota: Quota? = nil
    ) {
        (self.name, self.kind, self.isEnabled, self.items) = (name, kind, isEnabled, items)
        self.isConfigured = isConfigured
        (self.freshness, self.nextRunAt) = (freshness, nextRunAt)
        (self.consecutiveFailures, self.quota) = (consecutiveFailures, quota)
    }

    package static let schemaName = "SourceStatus"

    package init() { self.init(name: "", kind: "", isEnabled: false, items: 0, freshness: Freshness()) }

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("name", &name)
        try members.required("kind", &kind)
        try members.required("enabled", &isEnabled)
        try members.optional("configured", &isConfigured)
        try members.required("items", &items)
        try members.required("freshness", &freshness)
        try members.optional("next_run_at", &nextRunAt)
        try members.required("consecutive_failures", &consecutiveFailures)
        try members.optional("quota", &quota)
    }
}
