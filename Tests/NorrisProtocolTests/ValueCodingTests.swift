import NorrisProtocol
import NorrisTestSupport
import Testing

struct ValueCodingTests {
    @Test func factWithAllMembers() {
        checkCoding(
            Fact(
                id: "-x_1", text: "Chuck Norris counted to infinity.\n\tTwice.", categories: ["dev", "science"],
                source: "chucknorris", url: "https://api.chucknorris.io/jokes/-x_1", createdAt: Timestamp(seconds: 0),
                updatedAt: Timestamp(seconds: 86_399)),
            json: #"{"id":"-x_1","text":"Chuck Norris counted to infinity.\n\tTwice.","categories":["dev","science"],"#
                + #""source":"chucknorris","url":"https://api.chucknorris.io/jokes/-x_1","#
                + #""created_at":"1970-01-01T00:00:00Z","updated_at":"1970-01-01T23:59:59Z"}"#)
    }

    @Test func factWithFewestMembers() {
        checkCoding(
            Fact(id: "fortune:0", text: "t", categories: [], source: "fortune:linux"),
            json: #"{"id":"fortune:0","text":"t","categories":[],"source":"fortune:linux"}"#)
    }

    @Test("A null where a member may be absent reads as absent") func readsNullAsAbsent() {
        checkDecoding(
            Fact(id: "a", text: "t", categories: [], source: "builtin"),
            json: #"{"id":"a","text":"t","categories":[],"source":"builtin","url":null,"created_at":null}"#)
    }

    @Test func factNamesTheMemberAtFault() {
        let json: JSON = ["id": "a", "text": "t", "categories": ["dev", 1], "source": "builtin"]
        #expect(throws: JSONDecodingError(path: "categories.1", message: "must be a string")) { try Fact(json: json) }
    }

    @Test func gifWithAllMembers() {
        // Renditions keep unknown names, so no unknown member is added.
        checkCoding(
            Gif(
                id: "bq2Nk0o7bQhhseGATA", title: "Full House Angel GIF", rating: "pg-13",
                pageURL: "https://giphy.com/gifs/bq2Nk0o7bQhhseGATA", username: "KellyClarksonShow",
                altText: "An angel", isSticker: true,
                renditions: [
                    "original": Gif.Rendition(
                        url: "https://media3.giphy.com/media/ID/giphy.gif?cid=1&rid=giphy.gif", mp4: "https://m/4",
                        webp: "https://m/w", width: 480, height: 229, bytes: 976_265, frames: 20),
                    "looping": Gif.Rendition(mp4: "https://m/loop"),
                ], importedAt: Timestamp(seconds: 0), trendingAt: Timestamp(seconds: 1)),
            json: #"{"id":"bq2Nk0o7bQhhseGATA","title":"Full House Angel GIF","rating":"pg-13","#
                + #""page_url":"https://giphy.com/gifs/bq2Nk0o7bQhhseGATA","username":"KellyClarksonShow","#
                + #""alt_text":"An angel","sticker":true,"renditions":{"looping":{"mp4":"https://m/loop"},"#
                + #""original":{"url":"https://media3.giphy.com/media/ID/giphy.gif?cid=1&rid=giphy.gif","#
                + #""mp4":"https://m/4","webp":"https://m/w","width":480,"height":229,"bytes":976265,"frames":20}},"#
                + #""imported_at":"1970-01-01T00:00:00Z","trending_at":"1970-01-01T00:00:01Z","#
                + #""attribution":"Powered by GIPHY"}"#, ignoresUnknown: false)
    }

    @Test func gifWithFewestMembers() {
        checkCoding(
            Gif(id: "a", title: "", rating: "g", pageURL: "https://giphy.com/gifs/a"),
            json: #"{"id":"a","title":"","rating":"g","page_url":"https://giphy.com/gifs/a","sticker":false,"#
                + #""renditions":{},"attribution":"Powered by GIPHY"}"#, ignoresUnknown: false)
    }

    @Test func aRenditionIgnoresWhatItDoesNotKnow() {
        checkCoding(Gif.Rendition(url: "https://m"), json: #"{"url":"https://m"}"#)
    }

    @Test func postWithAllMembers() {
        checkCoding(
            Post(
                id: "town:1", source: "town",
                author: Post.Author(
                    id: "town:7", name: "Ada", handle: "@ada", avatarURL: "https://a/p.png", email: "ada@example.org"),
                publishedAt: Timestamp(seconds: 0), title: "Hello", text: "One\ntwo", isSensitive: true,
                tags: ["a", "b"], images: [Post.Image(url: "https://i/1.png", width: 2, height: 1, alt: "A cat")],
                stats: Post.Stats(likes: 12, comments: 1, shares: 0), url: "https://town/1", isRead: true),
            json: #"{"id":"town:1","source":"town","author":{"id":"town:7","name":"Ada","handle":"@ada","#
                + #""avatar_url":"https://a/p.png","email":"ada@example.org"},"published_at":"1970-01-01T00:00:00Z","#
                + #""title":"Hello","text":"One\ntwo","sensitive":true,"tags":["a","b"],"#
                + #""images":[{"url":"https://i/1.png","width":2,"height":1,"alt":"A cat"}],"attachments":[],"#
                + #""stats":{"likes":12,"comments":1,"shares":0},"url":"https://town/1","read":true}"#)
    }

    @Test func postWithFewestMembers() {
        checkCoding(
            Post(id: "t:1", source: "t", author: Post.Author(id: "t:2", name: "Ada")),
            json:
                #"{"id":"t:1","source":"t","author":{"id":"t:2","name":"Ada"},"tags":[],"images":[],"attachments":[],"stats":{},"#
                + #""read":false}"#)
    }

    private let fact = Fact(id: "a", text: "t", categories: [], source: "builtin")
    private let factJSON = #"{"id":"a","text":"t","categories":[],"source":"builtin"}"#

    @Test func pageWithAllMembers() {
        checkCoding(
            Page(items: [fact, fact], total: 1000, next: "b.x", freshness: Freshness(origin: .builtin, state: .stale)),
            json: #"{"items":["# + factJSON + "," + factJSON + #"],"total":1000,"next":"b.x","#
                + #""freshness":{"origin":"builtin","state":"stale","error":null}}"#)
    }

    @Test("The last page of many matches has neither next nor total") func pageWithFewestMembers() {
        checkCoding(Page(items: [fact]), json: #"{"items":["# + factJSON + "]}")
    }

    @Test func emptyPage() { checkCoding(Page<Fact>(items: [], total: 0), json: #"{"items":[],"total":0}"#) }

    @Test func pageNamesTheItemAtFault() {
        #expect(throws: JSONDecodingError(path: "items.0", message: "must be an object")) {
            try Page<Fact>(json: ["items": [1]])
        }
        #expect(throws: JSONDecodingError(path: "items", message: "is missing")) { try Page<Fact>(json: [:]) }
    }

    @Test func freshnessWithAllMembers() {
        checkCoding(
            Freshness(
                origin: .upstream, state: .fresh, fetchedAt: Timestamp(seconds: 60), ageSeconds: 5,
                error: SourceFailure(
                    kind: .http, message: "Status 503.", since: Timestamp(seconds: 61), retryAt: Timestamp(seconds: 62))
            ),
            json: #"{"origin":"upstream","state":"fresh","fetched_at":"1970-01-01T00:01:00Z","age_seconds":5,"#
                + #""error":{"kind":"http","message":"Status 503.","since":"1970-01-01T00:01:01Z","#
                + #""retry_at":"1970-01-01T00:01:02Z"}}"#)
    }

    @Test("A missing error is null, unlike every other missing member of the protocol")
    func writesNullForNoError() {
        checkCoding(
            Freshness(origin: .builtin, state: .stale), json: #"{"origin":"builtin","state":"stale","error":null}"#)
    }

    @Test func readsAnAbsentErrorAsNone() {
        checkDecoding(Freshness(origin: .none, state: .empty), json: #"{"origin":"none","state":"empty"}"#)
    }

    @Test("Words of a newer daemon are kept") func keepsUnknownWords() {
        checkCoding(
            Freshness(
                origin: .init(rawValue: "mirror"), state: .init(rawValue: "ripe"),
                error: SourceFailure(kind: .init(rawValue: "weather"), message: "Rain.", since: Timestamp(seconds: 0))),
            json: #"{"origin":"mirror","state":"ripe","#
                + #""error":{"kind":"weather","message":"Rain.","since":"1970-01-01T00:00:00Z"}}"#)
    }

    @Test func spellsItsWords() {
        #expect(
            [Freshness.Origin.upstream, .cache, .builtin, .none].map(\.jsonText)
                == [#""upstream""#, #""cache""#, #""builtin""#, #""none""#]
        )
        #expect([Freshness.State.fresh, .stale, .empty].map(\.jsonText) == [#""fresh""#, #""stale""#, #""empty""#])
        #expect(
            [SourceFailure.Kind.offline, .timeout, .http, .quota, .decode, .credentials].map(\.rawValue)
                == ["offline", "timeout", "http", "quota", "decode", "credentials"]
        )
    }

    @Test func refusesAWordThatIsNoString() {
        #expect(throws: JSONDecodingError(path: "origin", message: "must be a string")) {
            try Freshness(json: ["origin": 1, "state": "fresh", "error": nil])
        }
    }

    @Test func saysWhereInItsErrorTheFaultIs() {
        #expect(throws: JSONDecodingError(path: "error.since", message: "is missing")) {
            try Freshness(json: ["origin": "cache", "state": "stale", "error": ["kind": "http", "message": "m"]])
        }
    }

    @Test func statusWithAllMembers() {
        checkCoding(
            SourceStatus(
                name: "gifs", kind: "giphy", isEnabled: true, items: 3,
                freshness: Freshness(origin: .cache, state: .stale), nextRunAt: Timestamp(seconds: 1),
                consecutiveFailures: 2,
                quota: SourceStatus.Quota(limit: 100, used: 7, resetsAt: Timestamp(seconds: 3600))),
            json: #"{"name":"gifs","kind":"giphy","enabled":true,"items":3,"#
                + #""freshness":{"origin":"cache","state":"stale","error":null},"#
                + #""next_run_at":"1970-01-01T00:00:01Z","consecutive_failures":2,"#
                + #""quota":{"limit":100,"used":7,"resets_at":"1970-01-01T01:00:00Z"}}"#)
    }

    @Test func statusWithFewestMembers() {
        checkCoding(
            SourceStatus(
                name: "facts", kind: "chucknorris", isEnabled: false, items: 0,
                freshness: Freshness(origin: .none, state: .empty)),
            json: #"{"name":"facts","kind":"chucknorris","enabled":false,"items":0,"#
                + #""freshness":{"origin":"none","state":"empty","error":null},"consecutive_failures":0}"#)
    }

    private static let noon = Timestamp("2026-11-21T12:00:00Z")!  // SAFETY: A valid time.
    private static let at = #""at":"2026-11-21T12:00:00Z"}"#

    @Test(
        "The parameters of each event",
        arguments: [
            (Event.source("facts", .started, at: noon), #"{"topic":"source","source":"facts","phase":"started","# + at),
            (
                .source("facts", .finished, items: 9_000, at: noon),
                #"{"topic":"source","source":"facts","phase":"finished","items":9000,"# + at
            ),
            (
                .source(
                    "facts", .failed, error: SourceFailure(kind: .offline, message: "No route.", since: noon), at: noon),
                #"{"topic":"source","source":"facts","phase":"failed","error":{"kind":"offline","#
                    + #""message":"No route.","since":"2026-11-21T12:00:00Z"},"# + at
            ), (.item(source: "planet", added: 12, at: noon), #"{"topic":"item","source":"planet","added":12,"# + at),
            (
                .item(
                    source: "planet", added: 2, items: [.init(id: "p:2", title: "B"), .init(id: "p:1", title: "A")],
                    at: noon),
                #"{"topic":"item","source":"planet","items":[{"id":"p:2","title":"B"},{"id":"p:1","title":"A"}],"#
                    + #""added":2,"# + at
            ),
            (.server(.reloaded, at: noon), #"{"topic":"server","phase":"reloaded","# + at),
            (.server(.degraded, at: noon), #"{"topic":"server","phase":"degraded","# + at),
            (.server(.ok, at: noon), #"{"topic":"server","phase":"ok","# + at),
            (.server(.stopping, at: noon), #"{"topic":"server","phase":"stopping","# + at),
        ])
    func events(_ event: Event, _ json: String) {
        checkCoding(event, json: json)
    }

    @Test func isALineOfItsOwn() throws {
        let event = Event.item(source: "planet\n", added: 1, at: Self.noon)
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
    func linesThatAreNoEvents(_ line: String) throws {
        #expect(try read(line) == nil)
    }

    private func read(_ line: String) throws -> Event? {
        try Array(line.utf8)[...].withRawBytes { bytes in
            try Event.params(of: JSONValue(parsing: bytes)).map { try Event(json: $0) }
        }
    }

    @Test("Topics and phases from a newer daemon are kept as they came") func newerEvents() throws {
        let event = try Event(json: ["topic": "moon", "phase": "rising", "at": "2026-11-21T12:00:00Z"])
        #expect(event.topic.rawValue == "moon" && !Event.Topic.all.contains(event.topic))
        #expect(event.phase?.rawValue == "rising")
        #expect(throws: JSONDecodingError(path: "topic", message: "is missing")) {
            try Event(json: ["at": "2026-11-21T12:00:00Z"])
        }
    }

    @Test(
        "The message names a missing required member",
        arguments: [
            "id", "source", "author", "tags", "images", "stats", "read",
        ])
    func requiredMembers(_ key: String) throws {
        var object: JSONObject = [
            "id": "t:1", "source": "t", "author": ["id": "t:2", "name": "Ada"], "tags": [], "images": [],
            "stats": [:], "read": false,
        ]
        #expect(try Post(json: .object(object)).id == "t:1")
        object[key] = nil
        #expect(throws: JSONDecodingError(path: key, message: "is missing")) { try Post(json: .object(object)) }
    }
}
