import Glibc
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisFetch

@Suite(.timeLimit(.minutes(20)))
struct TimeoutTests {
    @Test(arguments: [FakeUpstream.Fault.hang, .drip(every: .milliseconds(10))])
    func theWholeIsBounded(fault: FakeUpstream.Fault) async throws {
        try await Fixture.run(FakeUpstream.start(), configure: { $0.request.timeout = 2_000 }) { fixture in
            let error = await fixture.failure(with: fault)
            #expect(error?.kind == .timeout)
            #expect(error?.message == "no complete answer from 127.0.0.1:\(fixture.upstream.port) within 2 s.")
            #expect(error?.failure.isRetryable == true)
        }
    }

    @Test func redirectsCountIntoTheWhole() async throws {
        let certificate = try FakeCertificate()
        try await Fixture.run(
            FakeUpstream.start(security: .tls(certificate)), configure: { $0.trustRoots = certificate.path }
        ) { fixture in
            fixture.upstream.setFault(.redirect(to: "/slow"), path: "/jokes/search")
            fixture.upstream.setFault(.hang, path: "/slow")
            // On a busy machine, the first response may take almost 2 s.
            for seconds in [2, 20, 200] {
                let before = fixture.upstream.requests.count
                var fixture = fixture
                fixture.request.timeout = seconds * 1000
                let error = await fixture.failure()
                #expect(error?.kind == .timeout)
                if fixture.upstream.requests.dropFirst(before).map(\.path) == ["/jokes/search", "/slow"] { return }
            }
            Issue.record("The redirect was never followed.")
        }
    }

    @Test("A connection that is never accepted is bounded") func connecting() async throws {
        let listener = SilentListener()
        try await Fixture.run(FakeUpstream.start(), configure: { $0.request.timeout = 200 }) { fixture in
            let url = "http://127.0.0.1:\(listener.port)/"
            let error = await fixture.failure(url: url)
            #expect(error?.kind == .timeout)
            #expect(error?.message == "No connection to 127.0.0.1:\(listener.port) within 200 ms.")
        }
    }
}

/// A listening socket with a full accept queue, so that new connections wait.
private final class SilentListener {
    private var descriptors: [Int32] = []
    private(set) var port: UInt16 = 0

    init() {
        // Sockets 1 to 4 are clients that fill the queue, because the backlog is 0.
        for index in 0..<5 {
            descriptors.append(socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0))
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    if index > 0 { return _ = connect(descriptors[index], pointer, length) }
                    bind(descriptors[0], pointer, length)
                    listen(descriptors[0], 0)
                    getsockname(descriptors[0], pointer, &length)
                }
            }
            port = UInt16(bigEndian: address.sin_port)
        }
    }

    deinit { descriptors.forEach { close($0) } }
}
