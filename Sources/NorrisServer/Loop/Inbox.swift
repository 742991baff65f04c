import CLinux
import Glibc
import NorrisProtocol
import NorrisSystem
import Synchronization

/// A connection, as other threads name it: its descriptor may be another connection's by the time they do.
struct ConnectionID: Equatable, Sendable {
    let descriptor: CInt
    let generation: UInt64
}

/// A deferred request that runs as a task of the server, and whose result goes back to the event loop.
struct DeferredTask: Sendable {
    let connection: ConnectionID
    let work: Deferred.Work
    let inbox: Inbox
    /// Of which the event loop has taken ``reserve`` for the result.
    let ledger: MemoryLedger

    /// What a request that runs counts with in bytes, until the event loop has its result: half of the longest reply,
    /// so that as many as may run at a time fit.
    static let reserve = 2 * 1024 * 1024

    func run() async {
        do throws(ResponseError) {
            let result = try await work()
            ledger.add(DeferredTask.excess(of: result), to: .replies)
            inbox.send(.result(connection, .success(result)))
        } catch {
            inbox.send(.result(connection, .failure(error)))
        }
    }

    /// How many bytes a result has beyond the reserve.
    static func excess(of result: [UInt8]) -> Int { max(0, result.count - reserve) }
}

/// Messages of other threads to the event loop; an eventfd(2) wakes it.
final class Inbox: Sendable {
    enum Message: Sendable {
        /// The result of a deferred request.
        case result(ConnectionID, Result<[UInt8], ResponseError>)
        /// Events wait in the connection's subscription.
        case events(ConnectionID)
        /// Process what has been received, then end.
        case drain
        /// End at once.
        case abort
    }

    private struct State {
        var messages: [Message] = []
        /// Nobody reads any more.
        var isClosed = false
    }

    private let state = Mutex(State())
    let descriptor: CInt

    init() throws(SystemError) {
        descriptor = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw SystemError("eventfd") }
    }

    deinit { Glibc.close(descriptor) }

    func send(_ message: Message) {
        let isFirst = state.withLock { state in
            guard !state.isClosed else { return false }
            state.messages.append(message)
            return state.messages.count == 1
        }
        guard isFirst else { return }
        var one: UInt64 = 1
        // Fails only where the counter is full, and then the loop is being woken.
        _ = write(descriptor, &one, 8)
    }

    /// All that came since the last call.
    func take() -> [Message] {
        var count: UInt64 = 0
        // Fails only where nothing has come.
        _ = read(descriptor, &count, 8)
        return state.withLock { state in
            defer { state.messages = [] }
            return state.messages
        }
    }

    func close() {
        state.withLock { $0 = State(messages: [], isClosed: true) }
    }
}
