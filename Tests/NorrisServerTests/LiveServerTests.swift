import Foundation
import NorrisProtocol
import NorrisTestSupport
import ServiceLifecycle
import Testing

@testable import NorrisServer

/// A real server on a real socket in the test's own process.
@Suite(.serialized)
struct LiveServerTests {
    /// Runs a server around the body and stops it gracefully.
    ///
    /// - Parameter body: gets the socket's path and what begins the stop.
    private func withServer(
        _ registry: MethodRegistry = TestMethods.registry(),
        limits: Server.Limits = .init(),
        _ body: @escaping @Sendable (String, @Sendable () async -> Void) async throws -> Void
    ) async throws {
        let folder = TemporaryFolder()
        let path = folder("sock")
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        let server = Server(
            socket: try ListeningSocket(binding: path, mode: 0o600),
            registry: registry,
            limits: limits,
            logger: TestMethods.logger
        ) { isReady.yield() }
        let group = ServiceGroup(services: [server], logger: TestMethods.logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            for await _ in ready { break }
            let result: Result<Void, any Error>
            do {
                try await body(path) { await group.triggerGracefulShutdown() }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            try result.get()
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    private func request(_ id: Int, _ method: String, _ params: String = "{}") -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"# + "\n"
    }

    private func ids(_ text: String) throws -> [RequestID] {
        try text.split(separator: "\n").map { try Response(json: JSON.parse(String($0))).id }
    }

    @Test func pipelinedRequestsAreAnsweredInOrderWhateverTakesLonger() async throws {
        let registry = TestMethods.registry(["fact.search": TestMethods.laterEcho])
        try await withServer(registry) { path, _ in
            let lines = (0..<500).map { id in
                id.isMultiple(of: 3)
                    ? request(id, "fact.search", #"{"query":"a"}"#) : request(id, "fact.random")
            }
            let client = try RawClient(path)
            let replies = try await client.converse(lines.joined())
            #expect(try ids(replies) == (0..<500).map { .integer($0) })
        }
    }

    @Test func aRequestMayComeByteByByteAndWithoutItsLastNewline() async throws {
        try await withServer { path, _ in
            let client = try RawClient(path)
            for byte in request(1, "server.info").utf8 { try client.send([byte]) }
            let replies = try await client.converse(String(request(2, "server.info").dropLast()))
            #expect(try ids(replies) == [.integer(1), .integer(2)])
        }
    }

    @Test func anOverlongLineIsDroppedAndTheNextServed() async throws {
        try await withServer { path, _ in
            let client = try RawClient(path)
            let long = String(repeating: "x", count: 3 << 20) + "\n"
            let replies = try await client.converse(long + request(1, "server.info"))
            #expect(try ids(replies) == [.null, .integer(1)])
            #expect(replies.contains("line_too_long"))
        }
    }

    @Test func aSlowReaderGetsAllItsRepliesInTheEndAndHoldsUpNobody() async throws {
        let registry = TestMethods.registry(["fact.random": TestMethods.long(100_000)])
        try await withServer(registry) { path, _ in
            let slow = try RawClient(path)
            // Far more than the kernel and the server hold for a connection.
            let lines = (0..<300).map { request($0, "fact.random") }.joined()
            try slow.send(Array(lines.utf8))
            let other = try RawClient(path)
            #expect(try ids(await other.converse(request(7, "server.info"))) == [.integer(7)])
            let replies = try await slow.converse("")
            #expect(try ids(replies) == (0..<300).map { .integer($0) })
        }
    }

    @Test func pastTheLimitOfAUserOneLineSaysSo() async throws {
        let limits = Server.Limits(connections: 3, connectionsPerUser: 2)
        try await withServer(limits: limits) { path, _ in
            let first = try RawClient(path)
            let second = try RawClient(path)
            _ = try first.exchange(request(1, "server.info"))
            _ = try second.exchange(request(1, "server.info"))
            let third = try RawClient(path)
            let refusal = try await third.readToEnd()
            #expect(try ids(refusal) == [.null])
            #expect(refusal.contains("-32004"))
            first.close()
            // The server notices the end of the first at some time of its own.
            while true {
                let again = try RawClient(path)
                if try await again.converse(request(5, "server.info")).contains(#""id":5"#) { break }
            }
        }
    }

    @Test func administratorsAreOnlyHeldToTheCommonLimit() async throws {
        let limits = Server.Limits(connections: 3, connectionsPerUser: 1)
        try await withServer(TestMethods.registry(isAdministrator: { _ in true }), limits: limits) { path, _ in
            var clients: [RawClient] = []
            for id in 0..<3 {
                let client = try RawClient(path)
                #expect(try client.exchange(request(id, "server.info")).contains("result"))
                clients.append(client)
            }
            #expect(try await RawClient(path).readToEnd().contains("-32004"))
        }
    }

    @Test func aStopAnswersEveryLineReceivedAndDropsHalfALine() async throws {
        let registry = TestMethods.registry(["fact.search": TestMethods.laterEcho])
        try await withServer(registry) { path, stop in
            let client = try RawClient(path)
            // The first reply shows that the connection is being served.
            #expect(try client.exchange(request(0, "server.info")).contains("result"))
            let lines = (1..<200).map { id in
                id.isMultiple(of: 5)
                    ? request(id, "fact.search", #"{"query":"a"}"#) : request(id, "fact.random")
            }
            try client.send(Array((lines.joined() + #"{"jsonrpc":"2.0","#).utf8))
            await stop()
            let replies = try await client.readToEnd()
            #expect(try ids(replies) == (1..<200).map { .integer($0) })
        }
    }

    @Test func aPeerThatVanishesHurtsNobody() async throws {
        let registry = TestMethods.registry(["fact.random": TestMethods.long(100_000)])
        try await withServer(registry) { path, _ in
            for _ in 0..<20 {
                let client = try RawClient(path)
                try client.send(Array((0..<50).map { request($0, "fact.random") }.joined().utf8))
                client.close()
            }
            #expect(try await RawClient(path).converse(request(1, "server.info")).contains("result"))
        }
    }

    @Test func theKernelSaysWhoThePeerIs() async throws {
        let uid = getuid()
        let registry = TestMethods.registry(["server.info": { call, json throws(ResponseError) in
            json.integer(Int64(call.peer.uid))
            return nil
        }])
        try await withServer(registry) { path, _ in
            let reply = try RawClient(path).exchange(request(1, "server.info"))
            #expect(reply.hasSuffix(#""result":\#(uid)}"#))
        }
    }
}

/// A client that sends and reads bytes as they are.
final class RawClient: @unchecked Sendable /* the descriptor is set once, and closed by close() or deinit alone */ {
    struct Failure: Error {
        let call: String
        let code: Int32
    }

    private var descriptor: Int32

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let address = try SocketAddress(path: path)
        guard address.withPointer({ connect(descriptor, $0, $1) }) == 0 else {
            throw Failure(call: "connect", code: errno)
        }
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        close()
    }

    func close() {
        if descriptor >= 0 { Foundation.close(descriptor) }
        descriptor = -1
    }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }  // Not empty: the loop has just seen bytes to send.
            guard count > 0 else { throw Failure(call: "send", code: errno) }
            sent += count
        }
    }

    /// Sends a request and reads one line.
    func exchange(_ text: String) throws -> String {
        try send(Array(text.utf8))
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, 0) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }

    /// Sends on a thread of its own, shuts down that side, and reads to the end.
    func converse(_ text: String) async throws -> String {
        Thread.detachNewThread {
            // A server that refuses may close before all is sent.
            try? self.send(Array(text.utf8))
            shutdown(self.descriptor, Int32(SHUT_WR))
        }
        return try await readToEnd()
    }

    /// Reads on a thread of its own: the tasks of the server under test need those of the test runner.
    func readToEnd() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try self.readAll() })
            }
        }
    }

    private func readAll() throws -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            if count > 0 {
                bytes += chunk[..<count]
            } else if count == 0 || errno == ECONNRESET {
                return String(decoding: bytes, as: UTF8.self)
            } else {
                throw Failure(call: "recv", code: errno)
            }
        }
    }
}
