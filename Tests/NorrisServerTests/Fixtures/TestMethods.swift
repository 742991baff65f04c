import Dispatch
import NorrisProtocol
import NorrisServer
import Synchronization

/// Bodies for the methods of the real table, for tests that are about everything around them.
enum TestMethods {
    /// A registry whose methods return `{}` unless the test or the names below say otherwise.
    static func registry(
        _ bodies: [String: MethodBody] = [:], isAdministrator: @escaping @Sendable (Peer) -> Bool = { _ in true }
    ) -> MethodRegistry {
        let empty: MethodBody = { _, json throws(ResponseError) in
            json.beginObject()
            json.endObject()
            return nil
        }
        let usual = ["fact.get": echo, "fact.random": large]
        let all = MethodTable.methods.map { ($0.name, bodies[$0.name] ?? usual[$0.name] ?? empty) }
        return MethodRegistry(bodies: Dictionary(uniqueKeysWithValues: all), isAdministrator: isAdministrator)
    }

    /// For `fact.get`: the id that was asked for.
    static let echo: MethodBody = { call, json throws(ResponseError) in
        json.string(try IDParameters(call.arguments).id)
        return nil
    }

    /// The same, but later.
    static let deferredEcho: MethodBody = { call, _ throws(ResponseError) in
        let id = try IDParameters(call.arguments).id
        return .disk { () async throws(ResponseError) -> [UInt8] in Array("\"\(id)\"".utf8) }
    }

    /// For `fact.random`: a text of `count` times 64 KiB.
    static let large: MethodBody = { call, json throws(ResponseError) in
        json.raw(try longText(call))
        return nil
    }

    /// The same, but later.
    static let deferredLarge: MethodBody = { call, _ throws(ResponseError) in
        .disk { () async throws(ResponseError) -> [UInt8] in try longText(call) }
    }

    private static func longText(_ call: Call) throws(ResponseError) -> [UInt8] {
        let quote = [UInt8(ascii: "\"")]
        let count = try FactRandom.Parameters(call.arguments).count
        return quote + Array(repeating: UInt8(ascii: "x"), count: count * 65_536) + quote
    }

    /// For `event.subscribe`.
    static let subscribe: MethodBody = { call, json throws(ResponseError) in
        call.subscription.set(Set(try EventSubscribe.Parameters(call.arguments).topics ?? Event.Topic.all))
        json.beginObject()
        json.endObject()
        return nil
    }

    static func throwing(_ error: ResponseError) -> MethodBody {
        { _, json throws(ResponseError) in
            json.beginObject()
            json.member("half", "written")
            throw error
        }
    }

    static func throwingLater(_ error: ResponseError) -> MethodBody {
        { _, _ throws(ResponseError) in
            .disk { () async throws(ResponseError) -> [UInt8] in throw error }
        }
    }

    /// Counts the calls and then does what the other body does.
    static func counted(_ counter: Counter, _ body: @escaping MethodBody) -> MethodBody {
        { call, json throws(ResponseError) in
            counter.increment()
            return try body(call, &json)
        }
    }

    /// Writes `{}` once the gate is open.
    static func waiting(for gate: Gate) -> MethodBody {
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

/// Holds up the event loop: what happens meanwhile the server finds all at once.
final class Blockade: Sendable {
    private let entered = DispatchSemaphore(value: 0)
    private let lifted = DispatchSemaphore(value: 0)

    /// Blocks until it is lifted, and then writes `{}`.
    var body: MethodBody {
        { _, json throws(ResponseError) in
            self.entered.signal()
            self.lifted.wait()
            json.raw(Array("{}".utf8))
            return nil
        }
    }

    /// Returns when the event loop stands still.
    func waitUntilEntered() { entered.wait() }

    func lift() { lifted.signal() }
}

/// Holds back whoever waits until it is opened, once and for all.
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
