import Glibc
import NorrisTestSupport
import Testing

@testable import NorrisUpstream

@Suite(.timeLimit(.minutes(20)))
struct TimeoutTests {
    @Test(arguments: [FakeUpstream.Fault.hang, .drip(every: .milliseconds(10))])
    func theWholeIsBounded(fault: FakeUpstream.Fault) async throws {
        try await Fixture.run(FakeUpstream.start()) { fixture in
            let error = await fixture.failure(with: fault, timeout: .seconds(2))
            #expect(error?.kind == .timeout)
            #expect(error?.message == "127.0.0.1:\(fixture.upstream.port) did not answer whole within 2 s.")
            #expect(error?.isRetryable == true)
        }
    }

    @Test func anErrorsBodyThatDripsCostsItsMessage() async throws {
        try await Fixture.run(FakeUpstream.start()) { fixture in
            let head = "HTTP/1.1 503 No\r\nContent-Length: 10\r\n\r\n"
            let error = await fixture.failure(with: .hangingAfter(head), timeout: .seconds(5))
            #expect(error?.kind == .http(status: 503))
        }
    }

    @Test("Silence before and in a body is bounded", arguments: [FakeUpstream.Fault.hang, .drip(every: .seconds(60))])
    func silence(fault: FakeUpstream.Fault) async throws {
        try await Fixture.run(FakeUpstream.start(), configure: { $0.timeout = .milliseconds(1500) }) { fixture in
            let error = await fixture.failure(with: fault)
            #expect(error?.kind == .timeout)
            #expect(error?.message == "127.0.0.1:\(fixture.upstream.port) said nothing for 1500 ms.")
        }
    }

    @Test func redirectsCountIntoTheWhole() async throws {
        let certificate = try FakeCertificate()
        try await Fixture.run(
            FakeUpstream.start(security: .tls(certificate)), configure: { $0.trustRoots = certificate.path }
        ) { fixture in
            fixture.upstream.setFault(.redirect(to: "/slow"), path: "/jokes/search")
            fixture.upstream.setFault(.hang, path: "/slow")
            // On a busy machine the first response may need most of the first of these.
            for seconds in [2, 20, 200] {
                let before = fixture.upstream.requests.count
                let error = await fixture.failure(timeout: .seconds(seconds))
                #expect(error?.kind == .timeout)
                if fixture.upstream.requests.dropFirst(before).map(\.path) == ["/jokes/search", "/slow"] { return }
            }
            Issue.record("The redirect was never followed.")
        }
    }

    @Test("A connection that is never accepted is bounded")
    func connecting() async throws {
        let listener = try SilentListener(isFull: true)
        try await Fixture.run(FakeUpstream.start(), configure: { $0.timeout = .milliseconds(200) }) { fixture in
            let url = "http://127.0.0.1:\(listener.port)/"
            let error = await fixture.failure(url: url)
            #expect(error?.kind == .timeout)
            #expect(error?.message == "No connection to 127.0.0.1:\(listener.port) within 200 ms.")
        }
    }

    @Test func aCancelledRequestEndsAtOnce() async throws {
        try await Fixture.run(FakeUpstream.start()) { fixture in
            for fault in [FakeUpstream.Fault.hang, .drip(every: .seconds(60))] {
                fixture.upstream.setFault(fault)
                let count = fixture.upstream.requests.count
                await withTaskGroup(of: UpstreamError?.self) { group in
                    group.addTask { await fixture.failure(timeout: Fixture.longEnough) }
                    await fixture.upstream.waitForRequests(count + 1)
                    group.cancelAll()
                    #expect(await group.next() == .some(.cancelled))
                }
            }
        }
    }

    /// Until it has been seen to end, a request that is cancelled may wait for 900 seconds.
    private func cancelled(_ url: String, once isUnderWay: () async -> Void) async throws -> UpstreamError? {
        let transport = CurlTransport(baseURL: url, settings: Fixture.settings, logger: Fixture.quietLogger)
        defer { transport.shutdown() }
        return await withTaskGroup(of: UpstreamError?.self) { group in
            group.addTask {
                await failure { _ = try await transport.send(HTTPRequest(url: url, timeout: Fixture.longEnough)) }
            }
            await isUnderWay()
            group.cancelAll()
            return await group.next() ?? nil
        }
    }

    @Test func aRequestIsCancelledWhileItConnects() async throws {
        let listener = try SilentListener(isFull: true)
        // Nothing shows when it connects; before that it is cancelled as well.
        for milliseconds in [0, 1, 10, 100] {
            let error = try await cancelled("http://127.0.0.1:\(listener.port)/") { poll(nil, 0, CInt(milliseconds)) }
            #expect(error == .cancelled)
        }
    }

    @Test func aRequestIsCancelledInTheHandshake() async throws {
        let listener = try SilentListener(isFull: false)
        let url = "https://127.0.0.1:\(listener.port)/"
        let error = try await cancelled(url) { await eventually { listener.hasClient } }
        #expect(error == .cancelled)
    }

    @Test func manyAreCancelledAtOnceAndTheNextSucceeds() async throws {
        try await Fixture.run(FakeUpstream.start()) { fixture in
            fixture.upstream.setFault(.hang)
            await withTaskGroup(of: UpstreamError?.self) { group in
                for _ in 0..<50 { group.addTask { await fixture.failure() } }
                await fixture.upstream.waitForRequests(25)
                group.cancelAll()
                for await error in group { #expect(error == .cancelled) }
            }
            fixture.upstream.setFault(nil)
            let response = try await fixture.send()
            #expect(response.status == 200)
        }
    }
}

/// A listening socket that nobody accepts from. Where its queue is full, whoever connects waits.
private final class SilentListener {
    private var descriptors: [Int32] = []
    let port: UInt16

    struct NotMade: Error {}

    init(isFull: Bool) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        descriptors.append(listener)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        func withAddress<Result>(_ body: (UnsafeMutablePointer<sockaddr>) -> Result) -> Result {
            withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
            }
        }
        let size = length
        guard withAddress({ bind(listener, $0, size) }) == 0, listen(listener, 0) == 0,
            withAddress({ getsockname(listener, $0, &length) }) == 0
        else { throw NotMade() }
        port = UInt16(bigEndian: address.sin_port)
        for _ in 0..<(isFull ? 4 : 0) {
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            descriptors.append(client)
            _ = withAddress { connect(client, $0, size) }
        }
    }

    /// Whether a client has connected.
    var hasClient: Bool {
        var descriptor = pollfd(fd: descriptors[0], events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) == 1
    }

    deinit { descriptors.forEach { close($0) } }
}
