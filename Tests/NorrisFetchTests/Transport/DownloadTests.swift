import NorrisFetchProtocol
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisFetch

@Suite(.timeLimit(.minutes(20))) struct DownloadTests {
    private func run(
        gzip: Bool = false, jokes: Int = 3, maximumBody: Int = 16 << 20, _ body: (Fixture) async throws -> Void
    ) async throws {
        try await Fixture.run(
            FakeUpstream.start(jokes: FakeUpstream.jokes(count: jokes), gzip: gzip),
            configure: { $0.request.maximumBody = maximumBody }, body)
    }

    // MARK: Requests and responses

    @Test(arguments: [false, true]) func aResponseComesWhole(gzip: Bool) async throws {
        try await run(gzip: gzip, jokes: 300) { fixture in
            let response = try await fixture.send()
            #expect(response.status == 200)
            #expect(response.headers["content-TYPE"] == "application/json")
            #expect(response.headers["content-encoding"] == (gzip ? "gzip" : nil))
            #expect(try JSON.parse(response.body).objectValue()["total"] == 300)
        }
    }

    @Test func aRequestSaysNothingOfTheMachine() async throws {
        try await run { fixture in
            fixture.upstream.setHeaders([("Set-Cookie", "who=you; Path=/")])
            for _ in 1...2 { _ = try await fixture.send(headers: [(name: "Accept", value: "application/json")]) }
            #expect(fixture.upstream.requests.map(\.method) == ["GET", "GET"])
            for request in fixture.upstream.requests {
                let headers = Dictionary(uniqueKeysWithValues: request.headers.map { ($0.name.lowercased(), $0.value) })
                #expect(
                    headers == [
                        "host": "127.0.0.1:\(fixture.upstream.port)", "user-agent": "norrisd/test",
                        "accept-encoding": "gzip", "accept": "application/json",
                    ])
            }
        }
    }

    // MARK: Statuses

    @Test(arguments: [200, 201, 203, 226]) func theseStatusesAreSuccesses(status: Int) async throws {
        try await run { fixture in
            fixture.upstream.setFault(.status(status, body: "{}"))
            let response = try await fixture.send()
            #expect((response.status, response.body) == (status, Array("{}".utf8)))
        }
    }

    @Test(arguments: [204, 300, 404, 408, 503]) func anyOtherStatusIsAnError(status: Int) async throws {
        try await run { fixture in
            let error = await fixture.failure(with: .status(status, body: status == 204 ? "" : "<html>"))
            #expect(error?.kind == .http(status: status))
            #expect(error?.message == "HTTP \(status) from 127.0.0.1:\(fixture.upstream.port)/jokes/search.")
            #expect(error?.failure.isRetryable == (status >= 500 || status == 408 || status == 425))
        }
    }

    // MARK: Sizes

    @Test(
        arguments: [
            // The body never arrives.
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 100001\r\n\r\n"), .endless, .gzipBomb,
            .json(String(repeating: "1", count: 100_001)),
        ] as [FakeUpstream.Fault]
    )
    func aLongBodyIsRefused(fault: FakeUpstream.Fault) async throws {
        try await run(maximumBody: 100_000) { fixture async throws in
            let error = await fixture.failure(with: fault)
            expect(error, .decode, "more than 100000 bytes; raise http.max_body", isRetryable: false)
            #expect(error?.isDamage == false)
            fixture.upstream.setFault(.json(String(repeating: "1", count: 100_000)))
            #expect(try await fixture.send().body.count == 100_000)
        }
    }

    @Test func headerFieldsAreBounded() async throws {
        try await run { fixture async throws in
            func head(_ lines: Int) -> String {
                let fields = (0..<lines).map { "X-Field-\($0): \(String(repeating: "x", count: 1000))\r\n" }.joined()
                return "HTTP/1.1 200 OK\r\n\(fields)ETag: \"a\"\r\nContent-Length: 2\r\n\r\n{}"
            }
            let error = await fixture.failure(with: .raw(head(65)))
            expect(error, .decode, "answered with more than 64 KiB of header fields.")
            #expect(await fixture.failure(with: .longHead)?.kind == .decode)
            fixture.upstream.setFault(.raw(head(63)))
            #expect(try await fixture.send().headers["etag"] == "\"a\"")
        }
    }

    /// The limit applies to every status, and to the fields of all heads of a response together.
    @Test(arguments: ["200 OK", "302 Found\r\nLocation: /x", "103 Early"])
    func fieldsAreCounted(status: String) async throws {
        try await run { fixture async throws in
            let fields = { (count: Int) in String(repeating: "a:\r\n", count: count) }
            let end = status == "103 Early" ? "\r\nHTTP/1.1 200 OK\r\n\(fields(500))" : ""
            let head = { (count: Int) in "HTTP/1.1 \(status)\r\n\(fields(count))\(end)Content-Length: 2\r\n\r\n{}" }
            let count = status == "103 Early" ? 500 : 1000
            let error = await fixture.failure(with: .raw(head(count)))
            expect(error, .decode, "answered with more than 1000 header fields.", isRetryable: false)
            let less = await fixture.failure(with: .raw(head(count - 2)))
            #expect(less?.message.contains("header fields") != true)
        }
    }

    /// libcurl accepts some of these replies as complete.
    @Test(arguments: [
        "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Type: applic", "HTTP/1.1 200 OK\r\nETag: x\r\n",
        "HTTP/1.1 302 F", "HTTP/1.1 404 None\r\nContent-Length: 5\r\n", "HTTP/1.1 100 Continue\r\n\r\n",
    ]) func aReplyThatEndsInItsHeadIsRetried(head: String) async throws {
        try await run { fixture in
            let error = await fixture.failure(with: .raw(head))
            expect(error, .offline, "ended its answer early", isRetryable: true)
        }
    }

    // MARK: Broken responses

    @Test(arguments: [true, false]) func aTruncatedBodyIsAnError(chunked: Bool) async throws {
        for gzip in [false, true] {
            try await run(gzip: gzip) { fixture in
                let error = await fixture.failure(with: .truncated(chunked: chunked))
                expect(error, .offline, "ended its answer early", isRetryable: true)
            }
        }
    }

    @Test func damagedCompressionIsNoTransportFault() async throws {
        try await run { fixture in
            var damaged = gzipped(Array("whole".utf8))
            // The gzip trailer: checksum and length.
            damaged[damaged.count - 8] ^= 1
            for body in [Array("not gzip".utf8), damaged] {
                let headers = [("Content-Encoding", "gzip")]
                let error = await fixture.failure(with: .answer(status: 200, headers: headers, body: body))
                expect(error, .decode, "damaged")
            }
        }
    }

    /// Some servers name the character encoding in `Content-Encoding`.
    @Test func anUnknownContentEncodingIsIgnored() async throws {
        try await run { fixture in
            let headers = [("Content-Encoding", "utf-8")]
            fixture.upstream.setFault(.answer(status: 200, headers: headers, body: Array("[1]".utf8)))
            let response = try await fixture.send()
            #expect((response.status, response.body) == (200, Array("[1]".utf8)))
            #expect(fixture.upstream.requests.map { $0.header("Accept-Encoding") } == ["gzip", nil])
        }
    }

    @Test(
        arguments: [
            .garbage, .raw("HTTP/1.1 200 OK\r\nno field\r\n\r\n"), .raw("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"),
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"), .raw("HTTP/7.5 200 OK\r\n\r\n"),
        ] as [FakeUpstream.Fault]
    )
    func garbageIsNotHTTP(fault: FakeUpstream.Fault) async throws {
        try await run { fixture in
            let error = await fixture.failure(with: fault)
            expect(error, .decode, "not HTTP")
        }
    }

    // MARK: Failed connections

    @Test(arguments: [FakeUpstream.Fault.hang, .drip(every: .milliseconds(10))])
    func theWholeIsBounded(fault: FakeUpstream.Fault) async throws {
        try await Fixture.run(FakeUpstream.start(), configure: { $0.request.timeout = 2_000 }) { fixture in
            let error = await fixture.failure(with: fault)
            #expect(error?.kind == .timeout)
            #expect(error?.message == "no complete answer from 127.0.0.1:\(fixture.upstream.port) within 2 s.")
            #expect(error?.failure.isRetryable == true)
        }
    }

    @Test func aRefusedConnectionIsOfflineUntilThereIsOne() async throws {
        try await run { fixture async throws in
            fixture.upstream.close()
            let error = await fixture.failure()
            #expect(error?.kind == .offline)
            #expect(error?.message == "127.0.0.1:\(fixture.upstream.port) cannot be reached: connection refused.")
            fixture.upstream.reopen()
            #expect(try await fixture.send().status == 200)
        }
    }

    @Test func aNameThatDoesNotExistIsOffline() async throws {
        try await run { fixture in
            // Names in `.invalid` never exist (RFC 6761, section 6.4).
            let error = await fixture.failure(url: "http://upstream.invalid/jokes/search")
            #expect(error?.kind == .offline)
            #expect(error?.message == "upstream.invalid cannot be reached: the name cannot be resolved.")
        }
    }
}
