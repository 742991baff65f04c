/// The age of a reply's content, and the last failure of its source.
package struct Freshness: SharedObject {
    /// The origin of the items.
    package struct Origin: OpenString {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }
        /// The upstream answered a request that was made for this reply.
        package static let upstream = Origin(rawValue: "upstream")
        package static let cache = Origin(rawValue: "cache")
        /// Every item is from the starting collection or a fortune file.
        package static let builtin = Origin(rawValue: "builtin")
        /// There are no items, and no fetch has succeeded yet.
        package static let none = Origin(rawValue: "none")
        package static let all = [upstream, cache, builtin, none]
    }

    /// The assessment of the age.
    package struct State: OpenString {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }
        package static let fresh = State(rawValue: "fresh")
        /// The last success is older than 1.5 refresh intervals, or no fetch has succeeded yet.
        package static let stale = State(rawValue: "stale")
        package static let empty = State(rawValue: "empty")
        package static let all = [fresh, stale, empty]
    }

    package var origin: Origin = .none
    package var state: State = .empty
    package var fetchedAt: Timestamp?
    package var ageSeconds: Int?
    /// The last failure of the source, until its next success; independent of whether there is content. This is the
    /// only nullable member of the protocol, because scripts test it.
    package var error: SourceFailure?

    package init(
        origin: Origin, state: State, fetchedAt: Timestamp? = nil, ageSeconds: Int? = nil, error: SourceFailure? = nil
    ) {
        (self.origin, self.state, self.fetchedAt) = (origin, state, fetchedAt)
        (self.ageSeconds, self.error) = (ageSeconds, error)
    }

    package init() {}

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("origin", &origin)
        try members.required("state", &state)
        try members.optional("fetched_at", &fetchedAt)
        try members.optional("age_seconds", &ageSeconds)
        try members.nullable("error", &error)
    }
}

/// The last failure of a source: the value of `freshness.error`.
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
        package static let storage = Kind(rawValue: "storage")
        package static let all: [Kind] = [.offline, .timeout, .http, .quota, .decode, .credentials, .storage]
    }

    /// The end of the message if a server answers without TLS.
    package static let noTLS = "the server does not use TLS on this port"

    package var kind: Kind = .offline
    /// One sentence for the user.
    package var message = ""
    package var since = Timestamp(seconds: 0)
    package var retryAt: Timestamp?

    package init(kind: Kind, message: String, since: Timestamp, retryAt: Timestamp? = nil) {
        (self.kind, self.message, self.since, self.retryAt) = (kind, message, since, retryAt)
    }

    package init() {}

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("kind", &kind)
        try members.required("message", &message)
        try members.required("since", &since)
        try members.optional("retry_at", &retryAt)
    }
}

/// One source in the result of `server.status`.
package struct SourceStatus: SharedObject {
    /// The name of the source of facts.
    package static let facts = "facts"
    /// The name of the source of GIFs.
    package static let gifs = "gifs"
    /// The names of the sources without posts.
    package static let builtInNames: Set = [facts, gifs]
    package var hasPosts: Bool { !Self.builtInNames.contains(name) }

    /// `facts`, `gifs`, or a key under `posts.sources`.
    package var name: String
    /// The upstream, such as `chucknorris`.
    package var kind: String
    package var isEnabled: Bool
    /// False if the source needs a key and has none, which is not a failure; otherwise nil.
    package var isConfigured: Bool?
    package var items: Int
    package var freshness: Freshness
    package var nextRunAt: Timestamp?
    package var consecutiveFailures: Int
    package var quota: Quota?

    /// A limit of requests and its current use.
    package struct Quota: WireObject, Equatable, Sendable {
        package var limit = 0
        package var used = 0
        package var resetsAt = Timestamp(seconds: 0)

        package init(limit: Int, used: Int, resetsAt: Timestamp) {
            (self.limit, self.used, self.resetsAt) = (limit, used, resetsAt)
        }

        package init() {}

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
