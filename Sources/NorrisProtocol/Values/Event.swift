/// Something that happened in the daemon, sent to the connections that subscribed to its topic.
///
/// Which members are there depends on the topic; a topic or a phase from a newer daemon is kept as it came.
package struct Event: WireObject, Equatable, Sendable {
    package struct Topic: OpenString {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }
        /// A source began to fetch, or ended it: ``Event/source``, ``Event/phase``.
        package static let source = Topic(rawValue: "source")
        /// A source brought something new: ``Event/source``, ``Event/added``.
        package static let item = Topic(rawValue: "item")
        /// The daemon itself: ``Event/phase``.
        package static let server = Topic(rawValue: "server")

        /// The topics of this version, in the order of the documents.
        package static let all: [Topic] = [.source, .item, .server]
    }

    package struct Phase: OpenString {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }
        // Of a source.
        package static let started = Phase(rawValue: "started")
        package static let finished = Phase(rawValue: "finished")
        package static let failed = Phase(rawValue: "failed")
        // Of the daemon.
        package static let reloaded = Phase(rawValue: "reloaded")
        package static let degraded = Phase(rawValue: "degraded")
        package static let ok = Phase(rawValue: "ok")
        package static let stopping = Phase(rawValue: "stopping")
        package static let all = [started, finished, failed, reloaded, degraded, ok, stopping]
    }

    package var topic: Topic
    /// `facts`, `gifs`, or a key under `posts.sources`.
    package var source: String?
    package var phase: Phase?
    /// How many items of the source are stored now.
    package var items: Int?
    /// Why the source failed.
    package var error: SourceFailure?
    /// How many items are new.
    package var added: Int?
    package var at: Timestamp
}

extension Event {
    package static func source(
        _ name: String, _ phase: Phase, items: Int? = nil, error: SourceFailure? = nil, at: Timestamp = .now()
    ) -> Event { Event(topic: .source, source: name, phase: phase, items: items, error: error, at: at) }

    package static func item(source: String, added: Int, at: Timestamp = .now()) -> Event {
        Event(topic: .item, source: source, added: added, at: at)
    }

    package static func server(_ phase: Phase, at: Timestamp = .now()) -> Event {
        Event(topic: .server, phase: phase, at: at)
    }
}

/// The `params` of the line.
extension Event {
    package init() { self.init(topic: .source, at: Timestamp(seconds: 0)) }

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("topic", &topic)
        try members.optional("source", &source)
        try members.optional("phase", &phase)
        try members.optional("items", &items)
        try members.optional("error", &error)
        try members.optional("added", &added)
        try members.required("at", &at)
    }
}

// MARK: The line

extension Event {
    /// The method of the notification that carries an event.
    private static let method = "event"

    /// The whole line with its end: a notification of JSON-RPC 2.0, section 4.1.
    package var line: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("jsonrpc", "2.0")
        json.member("method", Event.method)
        json.member("params", self)
        json.endObject()
        json.newline()
        return json.bytes
    }

    /// The `params` of a line that carries an event; nil for a reply, or a notification of another method.
    package static func params(of message: JSON) -> JSON? {
        guard case .object(let object) = message, object["method"] == .string(method) else { return nil }
        return object["params"]
    }
}
