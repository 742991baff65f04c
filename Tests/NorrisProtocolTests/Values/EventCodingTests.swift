import NorrisProtocol
import Testing

struct EventCodingTests {
    private static let noon = Timestamp("2026-11-21T12:00:00Z")!  // A time that exists.
    private static let at = #""at":"2026-11-21T12:00:00Z"}"#

    @Test("The parameters of each event", arguments: [
        (
            Event.source("facts", .started, at: noon),
            #"{"topic":"source","source":"facts","phase":"started","# + at
        ),
        (
            .source("facts", .finished, items: 9_000, at: noon),
            #"{"topic":"source","source":"facts","phase":"finished","items":9000,"# + at
        ),
        (
            .source(
                "facts", .failed, error: SourceFailure(kind: .offline, message: "No route.", since: noon), at: noon
            ),
            #"{"topic":"source","source":"facts","phase":"failed","error":{"kind":"offline","#
                + #""message":"No route.","since":"2026-11-21T12:00:00Z"},"# + at
        ),
        (.item(source: "planet", added: 12, at: noon), #"{"topic":"item","source":"planet","added":12,"# + at),
        (.server(.reloaded, at: noon), #"{"topic":"server","phase":"reloaded","# + at),
        (.server(.degraded, at: noon), #"{"topic":"server","phase":"degraded","# + at),
        (.server(.ok, at: noon), #"{"topic":"server","phase":"ok","# + at),
        (.server(.stopping, at: noon), #"{"topic":"server","phase":"stopping","# + at),
    ])
    func parameters(_ event: Event, _ json: String) {
        checkCoding(event, json: json)
    }

    @Test func isALineOfItsOwn() throws {
        let event = Event.item(source: "planet\n", added: 1, at: Self.noon)
        let line = String(decoding: event.line, as: UTF8.self)
        #expect(
            line == #"{"jsonrpc":"2.0","method":"event","params":{"topic":"item","source":"planet\n","added":1,"#
                + Self.at + "}\n"
        )
        #expect(try Event(json: #require(Event.params(of: JSON.parse(line)))) == event)
    }

    @Test("Replies and notifications of other methods are no events", arguments: [
        #"{"jsonrpc":"2.0","id":1,"result":{"method":"event"}}"#, #"{"jsonrpc":"2.0","method":"events","params":{}}"#,
        #"{"jsonrpc":"2.0","method":"event"}"#, "[]", "1",
    ])
    func otherLines(_ line: String) throws {
        #expect(Event.params(of: try JSON.parse(line)) == nil)
    }

    @Test("Topics and phases from a newer daemon are kept as they came")
    func newerEvents() throws {
        let event = try Event(json: ["topic": "moon", "phase": "rising", "at": "2026-11-21T12:00:00Z"])
        #expect(event.topic.rawValue == "moon" && !Event.Topic.all.contains(event.topic))
        #expect(event.phase?.rawValue == "rising")
        #expect(throws: JSONDecodingError(path: "topic", message: "is missing")) {
            try Event(json: ["at": "2026-11-21T12:00:00Z"])
        }
    }
}
