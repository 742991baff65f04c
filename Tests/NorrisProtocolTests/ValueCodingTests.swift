import NorrisProtocol
import NorrisTestSupport
import Testing

struct ValueCodingTests {
    private static let at = #""at":"2026-11-21T12:00:00Z"}"#
    private static let cases: [WireCase] = [
        WireCase(
            Fact.self,
            #"{"id":"-x_1","text":"Chuck Norris counted to infinity.\n\tTwice.","categories":["dev","science"],"#
                + #""source":"chucknorris","url":"https://api.chucknorris.io/jokes/-x_1","#
                + #""created_at":"1970-01-01T00:00:00Z","updated_at":"1970-01-01T23:59:59Z"}"#),
        WireCase(Fact.self, #"{"id":"fortune:0","text":"t","categories":[],"source":"fortune:linux"}"#),
        WireCase(
            Gif.self,
            #"{"id":"bq2Nk0o7bQhhseGATA","title":"Full House Angel GIF","rating":"pg-13","#
                + #""page_url":"https://giphy.com/gifs/bq2Nk0o7bQhhseGATA","username":"KellyClarksonShow","#
                + #""alt_text":"An angel","sticker":true,"renditions":{"looping":{"mp4":"https://m/loop"},"#
                + #""original":{"url":"https://media3.giphy.com/media/ID/giphy.gif?cid=1&rid=giphy.gif","#
                + #""mp4":"https://m/4","webp":"https://m/w","width":480,"height":229,"bytes":976265,"frames":20}},"#
                + #""imported_at":"1970-01-01T00:00:00Z","trending_at":"1970-01-01T00:00:01Z","#
                + #""attribution":"Powered by GIPHY"}"#),
        WireCase(Gif.Rendition.self, #"{"url":"https://m"}"#),
        WireCase(
            Post.self,
            #"{"id":"town:1","source":"town","author":{"id":"town:7","name":"Ada","handle":"@ada","#
                + #""avatar_url":"https://a/p.png","email":"ada@example.org"},"published_at":"1970-01-01T00:00:00Z","#
                + #""title":"Hello","text":"One\ntwo","sensitive":true,"tags":["a","b"],"#
                + #""images":[{"url":"https://i/1.png","width":2,"height":1,"alt":"A cat"}],"attachments":[],"#
                + #""stats":{"likes":12,"comments":1,"shares":0},"url":"https://town/1","read":true}"#),
        WireCase(
            Favorite.self,
            #"{"kind":"fact","id":"a","title":"t","added_at":"1970-01-01T00:00:00Z","#
                + #""fact":{"id":"a","text":"t","categories":[],"source":"builtin"}}"#),
        // A missing error is null, unlike every other missing member of the protocol.
        WireCase(Freshness.self, #"{"origin":"none","state":"empty","error":null}"#),
        WireCase(
            Freshness.self,
            #"{"origin":"upstream","state":"fresh","fetched_at":"1970-01-01T00:01:00Z","age_seconds":5,"#
                + #""error":{"kind":"http","message":"Status 503.","since":"1970-01-01T00:01:01Z","#
                + #""retry_at":"1970-01-01T00:01:02Z"}}"#),
        // Words of a newer daemon are kept.
        WireCase(
            Freshness.self,
            #"{"origin":"mirror","state":"ripe","#
                + #""error":{"kind":"weather","message":"Rain.","since":"1970-01-01T00:00:00Z"}}"#),
        WireCase(
            SourceStatus.self,
            #"{"name":"gifs","kind":"giphy","enabled":true,"items":3,"#
                + #""freshness":{"origin":"cache","state":"stale","error":null},"#
                + #""next_run_at":"1970-01-01T00:00:01Z","consecutive_failures":2,"#
                + #""quota":{"limit":100,"used":7,"resets_at":"1970-01-01T01:00:00Z"}}"#),
        WireCase(Event.self, #"{"topic":"source","source":"facts","phase":"finished","items":9000,"# + at),
        WireCase(
            Event.self,
            #"{"topic":"source","source":"facts","phase":"failed","error":{"kind":"offline","#
                + #""message":"No route.","since":"2026-11-21T12:00:00Z"},"# + at),
        WireCase(
            Event.self,
            #"{"topic":"item","source":"planet","items":[{"id":"p:2","title":"B"},{"id":"p:1","title":"A"}],"#
                + #""added":2,"# + at),
        WireCase(Event.self, #"{"topic":"server","phase":"reloaded","# + at),
        WireCase(Event.self, #"{"topic":"moon","phase":"rising","# + at),
    ]

    @Test(arguments: cases) func isReadAndWritten(_ example: WireCase) throws { try example.check() }

    @Test func readsNullAndAbsenceAsTheSame() throws {
        let fact = Fact(id: "a", text: "t", categories: [], source: "builtin")
        let json = #"{"id":"a","text":"t","categories":[],"source":"builtin","url":null,"created_at":null}"#
        #expect(try Fact(json: JSON.parse(json)) == fact)
        let freshness = try Freshness(json: ["origin": "none", "state": "empty"])
        #expect(freshness == Freshness(origin: .none, state: .empty))
    }

    @Test func spellsItsWords() {
        #expect(
            [Freshness.Origin.upstream, .cache, .builtin, .none].map(\.rawValue)
                == ["upstream", "cache", "builtin", "none"])
        #expect([Freshness.State.fresh, .stale, .empty].map(\.rawValue) == ["fresh", "stale", "empty"])
        #expect([ServerStatus.State.ok, .degraded].map(\.rawValue) == ["ok", "degraded"])
        #expect(
            SourceFailure.Kind.all.map(\.rawValue)
                == ["offline", "timeout", "http", "quota", "decode", "credentials", "storage"])
        #expect(
            [Event.Phase.started, .finished, .failed, .reloaded, .degraded, .ok, .stopping].map(\.rawValue)
                == ["started", "finished", "failed", "reloaded", "degraded", "ok", "stopping"])
    }

    @Test("The message names the member at fault, at any depth") func namesTheMember() {
        let categories: JSON = ["id": "a", "text": "t", "categories": ["dev", 1], "source": "builtin"]
        #expect(throws: JSONDecodingError(path: "categories.1", message: "must be a string")) {
            try Fact(json: categories)
        }
        #expect(throws: JSONDecodingError(path: "items.0", message: "must be an object")) {
            try Page<Fact>(json: ["items": [1]])
        }
        #expect(throws: JSONDecodingError(path: "error.since", message: "is missing")) {
            try Freshness(json: ["origin": "cache", "state": "stale", "error": ["kind": "http", "message": "m"]])
        }
    }

    // MARK: Events

    @Test func isALineOfItsOwn() throws {
        let event = Event.item(source: "planet\n", added: 1, at: Timestamp(seconds: 1_795_262_400))
        let line = String(decoding: event.line, as: UTF8.self)
        #expect(
            line == #"{"jsonrpc":"2.0","method":"event","params":{"topic":"item","source":"planet\n","added":1,"#
                + Self.at + "}\n")
        #expect(try read(line) == event)
    }

    @Test(
        "Replies and notifications of other methods are no events",
        arguments: [
            #"{"jsonrpc":"2.0","id":1,"result":{"method":"event"}}"#,
            #"{"jsonrpc":"2.0","method":"events","params":{}}"#,
            #"{"jsonrpc":"2.0","method":"event"}"#, "[]", "1",
        ])
    func linesThatAreNoEvents(_ line: String) throws { #expect(try read(line) == nil) }

    private func read(_ line: String) throws -> Event? {
        try Array(line.utf8)[...].withRawBytes { bytes in
            try Event.params(of: JSONValue(parsing: bytes)).map { try Event(json: $0) }
        }
    }
}
