import Foundation
import NorrisTestSupport

/// An upstream of every kind that sends hostile texts in every string member.
enum HostileUpstream {
    static func start() async throws -> FakeUpstream {
        let upstream = try await FakeUpstream.start(jokes: [])
        let joke = #"{"categories":[\#(Hostile.json),"$(touch X)","dev"],"created_at":\#(Hostile.json)"#
        upstream.setDocument(
            "/jokes/search", contentType: "application/json",
            body: Array(
                """
                {"total":3,"result":[\
                \(joke),"id":"one","updated_at":\(Hostile.json),"url":\(Hostile.json),"icon_url":\(Hostile.json),\
                "value":"Chuck Norris \(Hostile.json.dropFirst())},\
                \(joke),"id":"two","url":"https://e.example/two","value":"Norris \(Hostile.rawJSON.dropFirst())},\
                \(joke),"id":\(Hostile.json),"value":\(Hostile.json)}]}
                """.utf8))
        let categories = Array("[\(Hostile.json)]".utf8)
        upstream.setDocument("/jokes/categories", contentType: "application/json", body: categories)
        upstream.setGifs([gif(id: #""gif1""#, address: "\"https://e.example/1.gif\""), gif(id: Hostile.json)])
        upstream.setGifs([gif(id: #""gif2""#, address: "\"https://e.example/2.gif\"")], query: Hostile.argument)
        for (path, type, body) in documents { upstream.setDocument(path, contentType: type, body: Array(body.utf8)) }
        upstream.setDocument("/bytes", contentType: "application/rss+xml", body: Hostile.bytes)
        for (path, fault) in faults { upstream.setFault(fault, path: path) }
        return upstream
    }

    /// Returns the configuration of a daemon that fetches all sources and reads hostile fortune files.
    static func configuration(_ upstream: FakeUpstream, _ folder: TemporaryFolder) throws -> String {
        let fortunes = folder("fortunes")
        try FileManager.default.createDirectory(atPath: fortunes, withIntermediateDirectories: true)
        let name = Hostile.argument.filter { $0 != "/" }
        let texts = [
            (name, Hostile.argument), ("plain", "A fortune.\n%\n\(Hostile.argument)\n%\n"), ("binary", Hostile.text),
        ]
        for (name, text) in texts {
            try (Data(text.utf8) + Hostile.bytes).write(to: URL(fileURLWithPath: fortunes).appendingPathComponent(name))
        }
        let key = try folder.write("key\n", to: "giphy-key")
        let sources = sources.map { name, kind, path in
            // Of another name, because a host that answers 503 is held, with all of its sources.
            let base = upstream.baseURL.replacing("127.0.0.1", with: path == "/later" ? "localhost" : "127.0.0.1")
            return "    \(name): {kind: \(kind), url: '\(base)\(path)'}\n"
        }
        return """
            log: {level: trace}
            http: {timeout: 60s, host_gap: 0s}
            facts: {base_url: '\(upstream.baseURL)', fortunes: ['\(fortunes)']}
            gifs: {base_url: '\(upstream.baseURL)', api_key_file: '\(key)', queries: []}
            posts:
              sources:
            \(sources.joined())
            """
    }

    /// Makes the upstream answer every request with a hostile error.
    static func fail(_ upstream: FakeUpstream) {
        let message = "{\"meta\":{\"status\":403,\"msg\":\(Hostile.json)},\"message\":\(Hostile.json)}"
        let fault = FakeUpstream.Fault.answer(
            status: 403, headers: [("Content-Type", "application/json"), ("Retry-After", "1\u{1B}]0;x\u{7}")],
            body: Array(message.utf8))
        upstream.setFault(fault)
    }

    private static func gif(id: String, address: String? = nil) -> FakeGif {
        let address = address ?? "\"https://e.example/\(Hostile.json.dropFirst())"
        return FakeGif(
            id: "",
            json: """
                {"type":"gif","id":\(id),"url":\(address),"title":\(Hostile.json),"rating":\(Hostile.json),\
                "username":\(Hostile.rawJSON),"alt_text":\(Hostile.json),"import_datetime":\(Hostile.json),\
                "user":{"username":\(Hostile.json),"display_name":\(Hostile.json)},"images":{\
                "original":{"url":\(address),"mp4":\(Hostile.json),"width":"480","height":"229",\
                "size":\(Hostile.json)},\(Hostile.json):{"url":\(address)}}}
                """)
    }

    /// Name, kind and path of each source under `posts.sources`.
    static let sources = [
        ("planet", "feed", "/rss"), ("town", "mastodon", "/town"), ("team", "users-posts", "/team"),
        ("bytes", "feed", "/bytes"), ("statusline", "feed", "/statusline"),
        ("header", "feed", "/header"), ("away", "feed", "/away"), ("later", "feed", "/later"),
        ("error", "feed", "/error"),
    ]

    private static var documents: [(path: String, type: String, body: String)] {
        let status = """
            "created_at":"2022-03-09T23:27:32.000Z","visibility":"public","favourites_count":12,\
            "spoiler_text":\(Hostile.json),"url":"https://town.example/1","uri":\(Hostile.json),\
            "content":"<p>Hello \(markup(Hostile.json.dropFirst().dropLast()))</p>","language":\(Hostile.json),\
            "account":{"id":\(Hostile.json),"username":\(Hostile.json),"acct":\(Hostile.rawJSON),\
            "display_name":\(Hostile.json),"avatar":\(Hostile.json)},\
            "media_attachments":[{"id":"1","type":"image","url":"https://town.example/\(Hostile.json.dropFirst()),\
            "description":\(Hostile.json)},{"id":"2","type":"image","url":"https://town.example/a.png",\
            "description":\(Hostile.rawJSON),"meta":{"original":{"width":20,"height":10}}}],\
            "tags":[{"name":\(Hostile.json)}],"mentions":[],"emojis":[]
            """
        let person = """
            "name":\(Hostile.json),"email":\(Hostile.json),"profile_pic":\(Hostile.json),\
            "posts":[{"id":50531,"date":"Tue Mar 08 2022 06:56:06 GMT-0500",\
            "pics":["https://mock.example/1.jpg",\(Hostile.json)]},\
            {"id":\(Hostile.json),"date":\(Hostile.json),"pics":[]}]
            """
        return [
            (
                "/rss", "application/rss+xml",
                """
                <?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel><title>\(xml)</title>
                <link>https://planet.example/</link>
                <item><title>One \(xml)</title><link>https://planet.example/1</link><guid>\(xml)</guid>
                <author>\(xml)</author><category>\(xml)</category><pubDate>Thu, 10 Mar 2022 10:00:00 +0000</pubDate>
                <description>&lt;p&gt;Hello \(xml)&lt;img src="https://planet.example/\(xml)" alt="\(xml)"/&gt;
                </description>
                <enclosure url="https://planet.example/a\u{9B}.png" type="image/png"/></item>
                <item><title>Two</title><link>https://planet.example/\(xml)</link><guid>2</guid>
                <description>&lt;a href="javascript:x"&gt;\(xml)&lt;/a&gt;&amp;#27;]0;x&amp;#7;&amp;#x9b;2J&amp;#8238;
                </description></item></channel></rss>
                """
            ),
            (
                "/town/api/v1/timelines/public", "application/json",
                """
                [{"id":"100",\(status)},{"id":\(Hostile.json),\(status)},{"id":"101",\(status)}]
                """
            ),
            (
                "/team/users/posts", "application/json",
                """
                {"data":[{"uid":"e406bae8",\(person)},{"uid":\(Hostile.json),\(person)}]}
                """
            ),
        ]
    }

    private static var faults: [(path: String, fault: FakeUpstream.Fault)] {
        let sequence = "\u{1B}]0;x\u{7}\u{1B}[31m\u{9B}2J\u{202E}"
        return [
            ("/statusline", .raw("HTTP/1.1 500 \(sequence)\r\nContent-Length: 0\r\n\r\n")),
            ("/header", .raw("HTTP/1.1 200 OK\r\n\(sequence): x\r\nETag: \(sequence)\r\nContent-Length: 0\r\n\r\n")),
            ("/away", .redirect(to: "https://e.example/\(sequence)")),
            ("/later", .status(503, retryAfter: sequence, body: Hostile.text)),
            ("/error", .answer(status: 500, headers: [("Content-Type", "text/\(sequence)")], body: Hostile.bytes)),
        ]
    }

    /// The hostile text for XML, which forbids C0 controls: controls as escaped HTML references, the rest literally.
    private static let xml =
        markup(Hostile.text.unicodeScalars.filter { $0.value >= 0x20 }.map(String.init).joined())
        + "&amp;#27;[31m&amp;#x1b;]0;t&amp;#7;&amp;#x9b;2J&amp;#0;&amp;#xd800;&amp;#8238;"

    private static func markup(_ text: some StringProtocol) -> String {
        text.map { character in
            switch character {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            default: String(character)
            }
        }.joined()
    }
}
