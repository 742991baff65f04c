/// An event in the daemon, sent to the connections that subscribed to its topic.
///
/// The topic determines the members. Unknown topics and phases of a newer daemon are kept unchanged.
package struct Event: WireObject, Equatable, Sendable {
    package struct Topic: OpenString {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }
        /// A fetch of a source began or ended: ``Event/source``, ``Event/phase``.
        package static let source = Topic(rawValue: "source")
        /// A source has new items: ``Event/source``, ``Event/added``, ``Event/items``.
        package static let item = Topic(rawValue: "item")
        /// The user's unread posts changed: ``Event/unread``.
        package static let read = Topic(rawValue: "read")
        /// The state of the daemon changed: ``Event/phase``.
        package static let server = Topic(rawValue: "server")

        package static let all: [Topic] = [.source, .item, .read, .server]
    }

    package struct Phase: OpenString {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }
        // Phases of a source.
        package static let started = Phase(rawValue: "started")
        package static let finished = Phase(rawValue: "finished")
        package static let failed = Phase(rawValue: "failed")
        // Phases of the daemon.
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
    package var items: Items?
    /// The reason for the failure of the source.
    package var error: SourceFailure?
    /// The number of new items.
    package var added: Int?
    /// The number of the user's unread posts.
    package var unread: Int?
    package var at: Timestamp
}

extension Event {
    /// The member `items`, whose type depends on the topic.
    package enum Items: WireValue, Equatable, Sendable {
        /// `source`: the number of stored items of the source.
        case count(Int)
        /// `item`: some of the new items, at most ``maximumNew``.
        case new([NewItem])

        /// The most new items in an event.
        package static let maximumNew = 5

        /// The type of the topic `source`. A list would make the event a result with items for templates.
        package static var schema: Schema { .count }

        /// The number of stored items; nil for new items.
        package var count: Int? { if case .count(let count) = self { count } else { nil } }
        /// The new items; empty for a number.
        package var new: [NewItem] { if case .new(let items) = self { items } else { [] } }

        package init(json: JSONValue) throws(JSONDecodingError) {
            if json.kind == .array {
                self = .new(try [NewItem](json: json))
            } else {
                self = .count(try Int(json: json))
            }
        }

        package func encode(to json: inout JSONWriter) {
            switch self {
            case .count(let count): count.encode(to: &json)
            case .new(let items): items.encode(to: &json)
            }
        }
    }

    /// A new item of a source.
    package struct NewItem: WireObject, Equatable, Sendable {
        package var id = ""
        /// One line: the title, or the beginning of the text.
        package var title = ""

        package init(id: String, title: String) { (self.id, self.title) = (id, title) }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("id", &id)
            try members.required("title", &title)
        }
    }
}

extension Event {
    package static func source(
        _ name: String, _ phase: Phase, items: Int? = nil, error: SourceFailure? = nil, at: Timestamp = .now()
    ) -> Event {
        Event(topic: .source, source: name, phase: phase, items: items.map(Items.count), error: error, at: at)
    }

    package static func item(source: String, added: Int, items: [NewItem] = [], at: Timestamp = .now()) -> Event {
        Event(topic: .item, source: source, items: items.isEmpty ? nil : .new(items), added: added, at: at)
    }

    package static func read(unread: Int, at: Timestamp = .now()) -> Event {
        Event(topic: .read, unread: unread, at: at)
    }

    package static func server(_ phase: Phase, at: Timestamp = .now()) -> Event {
        Event(topic: .server, phase: phase, at: at)
    }
}

extension Event {
    package init() { self.init(topic: .source, at: Timestamp(seconds: 0)) }

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("topic", &topic)
        try members.optional("source", &source)
        try members.optional("phase", &phase)
        try members.optional("items", &items)
        try members.optional("error", &error)
        try members.optional("added", &added)
        try members.optional("unread", &unread)
        try members.required("at", &at)
    }
}

// MARK: The line

extension Event {
    /// The method of the notification that contains an event.
    private static let method = "event"

    /// The line with its LF: a notification of JSON-RPC 2.0, section 4.1.
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

    /// Returns the `params` of an event line; nil for a reply or another notification.
    package static func params(of message: JSONValue) -> JSONValue? {
        message.member("method")?.hasText(method) == true ? message.member("params") : nil
    }
}
