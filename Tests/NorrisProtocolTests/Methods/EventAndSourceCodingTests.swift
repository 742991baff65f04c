import NorrisProtocol
import Testing

struct EventAndSourceCodingTests {
    @Test func eventSubscribe() throws {
        checkEncoding(EventSubscribe.Parameters(), json: "{}")
        checkEncoding(EventSubscribe.Parameters(topics: []), json: #"{"topics":[]}"#)
        checkEncoding(EventSubscribe.Parameters(topics: [.item]), json: #"{"topics":["item"]}"#)
        checkCoding(
            EventSubscribe.Result(topics: [.source, .item, .server]), json: #"{"topics":["source","item","server"]}"#
        )
    }

    @Test("Absent topics are all, and not the same as none", arguments: [
        ("{}", nil), (#"{"topics":[]}"#, []), (#"{"topics":["server","server"]}"#, [.server, .server]),
    ] as [(String, [Event.Topic]?)])
    func topics(_ params: String, _ topics: [Event.Topic]?) throws {
        let arguments = try EventSubscribe.self.arguments(from: JSON.parse(params))
        #expect(EventSubscribe.Parameters(arguments).topics == topics)
    }

    @Test("Unknown topics are refused", arguments: [
        #"{"topics":["moon"]}"#, #"{"topics":"item"}"#, #"{"topics":[1]}"#, #"{"topics":null}"#,
    ])
    func unknownTopics(_ params: String) {
        #expect(throws: ResponseError.invalidParams(
            "topics must be a list, each item one of source, item, server.", parameter: "topics"
        )) {
            try EventSubscribe.self.arguments(from: JSON.parse(params))
        }
    }

    @Test func sourceRefresh() throws {
        #expect(SourceRefresh.name == "source.refresh")
        #expect(!SourceRefresh.self.isAdministrative)
        checkEncoding(SourceRefresh.Parameters(), json: "{}")
        checkEncoding(SourceRefresh.Parameters(source: "facts"), json: #"{"source":"facts"}"#)
        checkCoding(SourceRefresh.Result(started: ["facts", "planet"]), json: #"{"started":["facts","planet"]}"#)
        #expect(SourceRefresh.self.result.description == "{started:[string]}")
    }

    @Test func cacheClear() throws {
        #expect(CacheClear.name == "cache.clear")
        #expect(CacheClear.self.isAdministrative)
        checkEncoding(CacheClear.Parameters(), json: "{}")
        checkEncoding(CacheClear.Parameters(source: "facts"), json: #"{"source":"facts"}"#)
        checkCoding(CacheClear.Result(removed: 9_000), json: #"{"removed":9000}"#)
        #expect(CacheClear.self.result.description == "{removed:integer}")
    }

    @Test("A source is named by a text that is not empty", arguments: [#"{"source":""}"#, #"{"source":["facts"]}"#])
    func sources(_ params: String) {
        for description in [SourceRefresh.self, CacheClear.self] {
            #expect(throws: ResponseError.self) { try description.arguments(from: JSON.parse(params)) }
        }
    }
}
