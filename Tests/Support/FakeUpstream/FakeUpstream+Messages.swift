import NorrisProtocol

extension FakeUpstream {
    /// A received request.
    package struct Request: Sendable {
        package let method: String
        /// The target in the request line.
        package let target: String
        package let headers: [(name: String, value: String)]

        /// - Parameter head: the lines before the empty line.
        init(head: String) {
            let lines = head.split(separator: "\r\n")
            let words = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false)
            method = words.first.map(String.init) ?? ""
            target = words.count > 1 ? String(words[1]) : ""
            headers = lines.dropFirst().map { line in
                let colon = line.firstIndex(of: ":") ?? line.endIndex
                let value = line[colon...].dropFirst().drop { $0 == " " }
                return (name: String(line[..<colon]), value: String(value))
            }
        }

        /// The value of the first field with a name, ignoring case.
        package func header(_ name: String) -> String? {
            headers.first { $0.name.lowercased() == name.lowercased() }?.value
        }

        /// Without scheme, host and query.
        package var path: String {
            var rest = target[...]
            if rest.hasPrefix("http://") {
                rest = rest.dropFirst(7).drop { $0 != "/" }
            }
            return String(rest.prefix { $0 != "?" })
        }

        /// The value of the parameter `query`, decoded.
        package var query: String? { parameter("query") }

        /// The decoded value of the first parameter with a name.
        package func parameter(_ name: String) -> String? {
            let parameters = target.drop { $0 != "?" }.dropFirst().split(separator: "&")
            guard let parameter = parameters.first(where: { $0.hasPrefix("\(name)=") }) else { return nil }
            var bytes: [UInt8] = []
            var rest = Array(parameter.utf8.dropFirst(name.utf8.count + 1))[...]
            while let byte = rest.popFirst() {
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                if byte == UInt8(ascii: "%"), let value = UInt8(digits, radix: 16) {
                    bytes.append(value)
                    rest = rest.dropFirst(2)
                } else {
                    bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                }
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}

extension FakeUpstream {
    /// A status, header fields and a body, before it is framed.
    struct Answer {
        var status = 200
        var headers: [(String, String)] = [("Content-Type", "application/json")]
        var body: [UInt8] = []

        /// With a `Content-Length`, unless the status has no body.
        var bytes: [UInt8] { head(with: status == 304 ? [] : [("Content-Length", "\(body.count)")]) + body }

        func head(with further: [(String, String)]) -> [UInt8] {
            let fields = (headers + further).map { "\($0.0): \($0.1)\r\n" }.joined()
            return Array("HTTP/1.1 \(status) Whatever\r\n\(fields)\r\n".utf8)
        }
    }

    /// The content of the upstream, and its settings.
    struct Content: Sendable {
        var jokes: [FakeJoke]
        var prefix: String
        /// Additional header fields of every answer.
        var headers: [(String, String)] = []
        var isCompressed = false
        var giphy = FakeGiphy()
        /// Documents at paths, which have precedence over the APIs.
        var documents: [String: (contentType: String, body: [UInt8])] = [:]

        /// The answer of a working upstream.
        func answer(to request: Request) -> Answer {
            guard request.path.hasPrefix(prefix) else { return Self.failure(404, "Not Found") }
            var answer = Answer()
            let path = request.path.dropFirst(prefix.count)
            if let document = documents[String(path)] {
                answer.headers = [("Content-Type", document.contentType)]
                answer.body = document.body
                return conditional(answer, request)
            }
            if let gifs = giphy.answer(to: request, path: path) {
                return gifs.status == 200 ? conditional(gifs, request) : gifs
            }
            switch path {
            case "/jokes/search":
                let query = request.query ?? ""
                guard (3...120).contains(query.utf16.count) else { return Self.badQuery }
                let found = jokes.filter { $0.matches(query) }
                var json = JSONWriter()
                json.beginObject()
                json.member("total", found.count)
                json.member("result", found)
                json.endObject()
                answer.body = json.bytes
            case "/jokes/categories": answer.body = FakeUpstream.categories.jsonBytes
            case "/jokes/random": answer.body = jokes.first?.jsonBytes ?? []
            default: return Self.failure(404, "Not Found")
            }
            return conditional(answer, request)
        }

        private func conditional(_ answer: Answer, _ request: Request) -> Answer {
            var answer = answer
            // Any function of the bytes suffices.
            let etag = "W/\"\(answer.body.reduce(UInt64(5381)) { $0 &* 33 ^ UInt64($1) })\""
            let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
            let known =
                request.header("If-None-Match").map { $0 == etag } ?? (request.header("If-Modified-Since") == modified)
            answer.headers += [("ETag", etag), ("Last-Modified", modified)] + headers
            if known {
                answer.status = 304
                answer.body = []
            } else if isCompressed, request.header("Accept-Encoding")?.contains("gzip") == true {
                answer.headers.append(("Content-Encoding", "gzip"))
                answer.body = gzipped(answer.body)
            }
            return answer
        }

        private static func failure(_ status: Int, _ error: String) -> Answer {
            Answer(status: status, body: Array(#"{"status":\#(status),"error":"\#(error)"}"#.utf8))
        }

        private static let badQuery = Answer(
            status: 400,
            body: Array(
                """
                {"timestamp":"2023-06-21T12:03:51.946Z","status":400,"error":"Bad Request",\
                "message":"search.query: size must be between 3 and 120",\
                "violations":{"search.query":"size must be between 3 and 120"}}
                """.utf8))
    }
}
