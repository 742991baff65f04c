import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisUpstream

@Suite(.timeLimit(.minutes(20)))
struct CurlTransportTests {
    @Test func anAnswerComesWhole() async throws {
        try await Asking.run(FakeUpstream.start(jokes: FakeUpstream.jokes(count: 3))) { asking in
            let response = try await asking.send()
            #expect(response.status == 200)
            #expect(response.headers["content-TYPE"] == "application/json")
            #expect(response.headers["x-nothing"] == nil)
            let json = try JSON.parse(response.body).objectValue()
            #expect(json["total"] == 3)
        }
    }

    @Test func aRequestSaysNothingOfTheMachine() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            _ = try await asking.send(headers: [(name: "Accept", value: "application/json")])
            let request = try #require(asking.upstream.requests.first)
            #expect(request.method == "GET")
            let headers = Dictionary(uniqueKeysWithValues: request.headers.map { ($0.name.lowercased(), $0.value) })
            #expect(
                headers == [
                    "host": "127.0.0.1:\(asking.upstream.port)", "user-agent": "norrisd/test",
                    "accept-encoding": "gzip", "accept": "application/json",
                ]
            )
        }
    }

    @Test func cookiesAreNotSentBack() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            asking.upstream.setHeaders([("Set-Cookie", "who=you; Path=/")])
            _ = try await asking.send()
            _ = try await asking.send()
            #expect(asking.upstream.requests.count == 2)
            #expect(asking.upstream.requests.allSatisfy { $0.header("Cookie") == nil })
        }
    }

    @Test func compressedAnswersAreInflated() async throws {
        try await Asking.run(FakeUpstream.start(jokes: FakeUpstream.jokes(count: 300), gzip: true)) { asking in
            let response = try await asking.send()
            #expect(response.headers["content-encoding"] == "gzip")
            #expect(try JSON.parse(response.body).objectValue()["total"] == 300)
        }
    }

    @Test func conditionalRequestsAreAnswered304() async throws {
        try await Asking.run(FakeUpstream.start(gzip: true)) { asking in
            let etag = try #require(try await asking.send().headers["etag"])
            let unchanged = try await asking.send(headers: [(name: "If-None-Match", value: etag)])
            #expect(unchanged.status == 304)
            #expect(unchanged.body.isEmpty)
        }
    }

    @Test func aNotModifiedThatNobodyAskedForIsAnError() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            let error = await asking.failure(with: .status(304))
            #expect(error?.kind == .decode)
            #expect(error?.message.contains("304") == true)
        }
    }

    // MARK: Statuses

    @Test(arguments: [204, 206, 300, 400, 401, 403, 404, 408, 418, 425, 500, 502, 503, 520, 522])
    func anyOtherStatusIsAnError(status: Int) async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            let error = await asking.failure(with: .status(status, body: status == 204 ? "" : "<html>"))
            #expect(error?.kind == .http(status: status))
            #expect(error?.message == "HTTP \(status) from 127.0.0.1:\(asking.upstream.port)/jokes/search.")
            #expect(error?.isRetryable == (status >= 500 || status == 408 || status == 425))
        }
    }

    @Test func theUpstreamsOwnMessageIsKept() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            let error = await asking.failure("/jokes/search?query=x")
            #expect(error?.kind == .http(status: 400))
            #expect(error?.message.hasSuffix("jokes/search: search.query: size must be between 3 and 120.") == true)
            #expect(await asking.failure("/nothing")?.kind == .http(status: 404))
        }
    }

    @Test func aQuotaSaysWhenItEnds() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            let seconds = await asking.failure(with: .status(429, retryAfter: "120"))
            #expect(seconds?.kind == .quota)
            #expect(seconds?.retryAfter == .seconds(120))
            let date = await asking.failure(with: .status(503, retryAfter: "Sun, 06 Nov 1994 08:49:47 GMT"))
            #expect(date?.retryAfter == .seconds(10))
        }
    }

    @Test func theStatusOfABrokenErrorIsKept() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            let head = "HTTP/1.1 503 No\r\nRetry-After: 5\r\nContent-Length: 100\r\n\r\nhalf"
            let error = await asking.failure(with: .raw(head))
            #expect(error?.kind == .http(status: 503))
            #expect(error?.retryAfter == .seconds(5))
            let long = await asking.failure(with: .status(500, body: String(repeating: "x", count: 100_000)))
            #expect(long?.kind == .http(status: 500))
        }
    }

    // MARK: Sizes

    @Test func aLongBodyIsRefusedByItsLength() async throws {
        try await Asking.run(FakeUpstream.start(), configure: { $0.maximumBody = 1000 }) { asking in
            // None of it ever comes.
            let error = await asking.failure(with: .raw("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n"))
            #expect(error?.kind == .decode)
            #expect(error?.message.contains("more than 1000 bytes; raise http.max_body") == true)
            #expect(error?.isRetryable == false)
        }
    }

    @Test func anEndlessBodyIsCutOff() async throws {
        try await Asking.run(FakeUpstream.start(), configure: { $0.maximumBody = 100_000 }) { asking in
            let error = await asking.failure(with: .endless)
            #expect(error?.kind == .decode)
            #expect(error?.message.contains("http.max_body") == true)
        }
    }

    @Test func aBodyOfExactlyTheLimitIsTaken() async throws {
        try await Asking.run(FakeUpstream.start(), configure: { $0.maximumBody = 1000 }) { asking in
            asking.upstream.setFault(.json(String(repeating: "1", count: 1000)))
            let answer = try await asking.send()
            #expect(answer.body.count == 1000)
            #expect(await asking.failure(with: .json(String(repeating: "1", count: 1001)))?.kind == .decode)
        }
    }

    @Test func aGzipBombIsStoppedWhileItInflates() async throws {
        try await Asking.run(FakeUpstream.start(), configure: { $0.maximumBody = 1_000_000 }) { asking in
            let error = await asking.failure(with: .gzipBomb)
            #expect(error?.kind == .decode)
            #expect(error?.message.contains("http.max_body") == true)
        }
    }

    @Test func headerFieldsAreBounded() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            func head(_ lines: Int) -> String {
                let value = String(repeating: "x", count: 64 * 1024 - 20)
                let fields = (0..<lines).map { "X-Field-\($0): \(value)\r\n" }.joined()
                return "HTTP/1.1 200 OK\r\n\(fields)Content-Length: 2\r\n\r\n{}"
            }
            let error = await asking.failure(with: .raw(head(100)))
            #expect(error?.kind == .decode)
            #expect(error?.message.hasSuffix("answered with more than 256 KiB of header fields.") == true)
            asking.upstream.setFault(.raw(head(3)))
            let answer = try await asking.send()
            #expect(answer.headers["x-field-2"]?.utf8.count == 64 * 1024 - 20)
        }
    }

    @Test func interimAnswersAndTrailersAreNoAnswer() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            asking.upstream.setFault(
                .raw(
                    "HTTP/1.1 103 Early Hints\r\nX-Hint: 1\r\n\r\nHTTP/1.1 200 OK\r\nETag: \"a\"\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Trailer: 1\r\n\r\n"
                )
            )
            let answer = try await asking.send()
            #expect(answer.status == 200)
            #expect(answer.body == Array("{}".utf8))
            #expect(answer.headers["etag"] == "\"a\"")
            #expect(answer.headers["x-hint"] == nil)
            #expect(answer.headers["x-trailer"] == nil)
        }
    }

    @Test func aBodyIsNoLongerThanItsLengthSays() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            asking.upstream.setFault(.raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}{}{}"))
            let answer = try await asking.send()
            #expect(answer.body == Array("{}".utf8))
            let error = await asking.failure(with: .raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}{}{}"))
            #expect(error?.message.contains("broke off") == true)
        }
    }

    @Test func aHeadWithoutBoundIsCutOff() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            let error = await asking.failure(with: .longHead)
            #expect(error?.kind == .decode, "\(error as Any)")
        }
    }

    // MARK: Broken answers

    @Test(arguments: [true, false])
    func aTruncatedBodyIsNoAnswer(chunked: Bool) async throws {
        for gzip in [false, true] {
            try await Asking.run(FakeUpstream.start(gzip: gzip)) { asking in
                let error = await asking.failure(with: .truncated(chunked: chunked))
                #expect(error?.kind == .offline)
                #expect(error?.message.contains("broke off") == true, "\(error as Any)")
                #expect(error?.isRetryable == true)
            }
        }
    }

    @Test func damagedCompressionIsNoTransportFault() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            let gzip = [("Content-Encoding", "gzip")]
            var damaged = FakeGzip.stored(Array("whole".utf8))
            // The checksum and the length at the end.
            damaged[damaged.count - 8] ^= 1
            for body in [Array("not gzip".utf8), damaged] {
                let error = await asking.failure(with: .answer(status: 200, headers: gzip, body: body))
                #expect(error?.kind == .decode)
                #expect(error?.message.contains("damaged") == true, "\(error as Any)")
            }
            let foreign = await asking.failure(
                with: .answer(status: 200, headers: [("Content-Encoding", "br")], body: [1, 2, 3])
            )
            #expect(foreign?.kind == .decode)
            #expect(foreign?.message.contains("coding br") == true)
        }
    }

    @Test(
        arguments: [
            .garbage, .raw("HTTP/1.1 200 OK\r\nno field\r\n\r\n"),
            .raw("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"),
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"), .raw("HTTP/7.5 200 OK\r\n\r\n"),
        ] as [FakeUpstream.Fault]
    )
    func garbageIsNotHTTP(fault: FakeUpstream.Fault) async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            let error = await asking.failure(with: fault)
            #expect(error?.kind == .decode)
            #expect(error?.message.contains("not HTTP") == true, "\(error as Any)")
        }
    }

    @Test func aResetIsOffline() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            let error = await asking.failure(with: .reset)
            #expect(error?.kind == .offline)
            #expect(error?.isRetryable == true)
        }
    }

    @Test func aRefusedConnectionIsOfflineUntilThereIsOne() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            asking.upstream.close()
            let error = await asking.failure()
            #expect(error?.kind == .offline)
            #expect(error?.message == "127.0.0.1:\(asking.upstream.port) cannot be reached: connection refused.")
            asking.upstream.reopen()
            let answer = try await asking.send()
            #expect(answer.status == 200)
        }
    }

    @Test func aNameThatDoesNotExistIsOffline() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            let error = await #expect(throws: UpstreamError.self) {
                // No such name can exist (RFC 6761, 6.4).
                let url = "http://upstream.invalid/jokes/search"
                return try await asking.transport.send(HTTPRequest(url: url, timeout: Asking.longEnough))
            }
            #expect(error?.kind == .offline)
            #expect(error?.message == "upstream.invalid cannot be reached: the name cannot be resolved.")
        }
    }

    @Test func whatIsNoURLIsNotAsked() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            let error = await #expect(throws: UpstreamError.self) {
                try await asking.transport.send(HTTPRequest(url: "gopher://h/", timeout: .seconds(10)))
            }
            #expect(error?.message.contains("correct the configured address") == true)
            #expect(error?.isRetryable == false)
        }
    }

    @Test func afterTheShutdownNothingIsAsked() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            asking.transport.shutdown()
            #expect(await asking.failure() == .cancelled)
            #expect(asking.upstream.requests.isEmpty)
        }
    }

    @Test(arguments: [FakeUpstream.Fault.hang, .drip(every: .seconds(60))])
    func theShutdownCallsOffWhatIsUnderWay(fault: FakeUpstream.Fault) async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            asking.upstream.setFault(fault)
            async let failure = asking.failure(timeout: Asking.longEnough)
            await asking.upstream.waitForRequests(1)
            asking.transport.shutdown()
            #expect(await failure == .cancelled)
        }
    }
}
