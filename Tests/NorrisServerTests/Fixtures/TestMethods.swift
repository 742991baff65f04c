import Dispatch
import NorrisProtocol
import NorrisServer
import Synchronization

/// Simple bodies for the real methods, for tests of the code around the bodies.
enum TestMethods {
    /// Returns a registry whose methods return `{}`, except for the given bodies and the methods below.
    static func registry(
        _ bodies: [String: Handler.Body] = [:], isAdministrator: @escaping @Sendable (Peer) -> Bool = { _ in true }
    ) -> MethodRegistry {
        let empty: Handler.Body = { _, json throws(ResponseError) in
            json.beginObject()
            json.endObject()
            return nil
        }
        let usual = ["fact.get": echo, "fact.random": large]
        let all = MethodTable.methods.map { ($0.name, bodies[$0.name] ?? usual[$0.name] ?? empty) }
        return MethodRegistry(bodies: Dictionary(uniqueKeysWithValues: all), isAdministrator: isAdministrator)
    }

    /// The parameters that ``echo`` returns: the id of `fact.get`, or the query of `fact.search`.
    private struct EchoParameters: WireObject {
        var id: String?
        var query: String?

        mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.optional("id", &id)
            try members.optional("query", &query)
        }

        static func text(of call: Call) throws(ResponseError) -> String {
            let parameters = try EchoParameters(call.arguments)
            return parameters.id ?? parameters.query ?? ""
        }
    }

    /// Writes the requested id.
    static let echo: Handler.Body = { call, json throws(ResponseError) in
        json.string(try EchoParameters.text(of: call))
        return nil
    }

    /// Writes the requested id in deferred work.
    static let deferredEcho: Handler.Body = { call, _ throws(ResponseError) in
        let id = try EchoParameters.text(of: call)
        return .disk { () async throws(ResponseError) -> [UInt8] in Array("\"\(id)\"".utf8) }
    }

    /// Writes a text of `count` times 64 KiB, for `fact.random`.
    static let large: Handler.Body = { call, json throws(ResponseError) in
        json.raw(try longText(call))
        return nil
    }

    /// Writes the text of `large` in deferred work.
    static let deferredLarge: Handler.Body = { call, _ throws(ResponseError) in
        .disk { () async throws(ResponseError) -> [UInt8] in try longText(call) }
    }

    private static func longText(_ call: Call) throws(ResponseError) -> [UInt8] {
        let quote = [UInt8(ascii: "\"")]
        let count = try FactRandom.Parameters(call.arguments).count
        return quote + Array(repeating: UInt8(ascii: "x"), count: count * 65_536) + quote
    }

    static let subscribe: Handler.Body = { call, json throws(ResponseError) in
        call.subscription.set(Set(try EventSubscribe.Parameters(call.arguments).topics ?? Event.Topic.all))
        json.beginObject()
        json.endObject()
        return nil
    }

    static func throwing(_ error: ResponseError) -> Handler.Body {
        { _, json throws(ResponseError) in
            json.beginObject()
            json.member("half", "written")
            throw error
        }
    }

    static func throwingLater(_ error: ResponseError) -> Handler.Body {
        { _, _ throws(ResponseError) in
            .disk { () async throws(ResponseError) -> [UInt8] in throw error }
        }
    }

    static func counted(_ counter: Counter, _ body: @escaping Handler.Body) -> Handler.Body {
        { call, json throws(ResponseError) in
            counter.increment()
            return try body(call, &json)
        }
    }

    static func waiting(for gate: Gate) -> Handler.Body {
        { _, _ throws(ResponseError) in
            .disk { () async throws(ResponseError) -> [UInt8] in
                await gate.wait()
                return Array("{}".utf8)
            }
        }
    }
}

final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .sequentiallyConsistent) }

    func increment() { count.add(1, ordering: .sequentiallyConsistent) }
}

/// Blocks the event loop, so that the server finds all later input at once.
final class Blockade: Sendable {
    private let entered = DispatchSemaphore(value: 0)
    private let lifted = DispatchSemaphore(value: 0)

    /// Blocks until `lift()`, and then writes `{}`.
    var body: Handler.Body {
        { _, json throws(ResponseError) in
            self.block()
            json.raw(Array("{}".utf8))
            return nil
        }
    }

    /// Blocks the calling thread until `lift()`.
    func block() {
        entered.signal()
        lifted.wait()
    }

    func waitUntilEntered() { entered.wait() }

    func lift() { lifted.signal() }
}

/// Suspends its waiters until it is opened. A gate cannot be closed again.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
