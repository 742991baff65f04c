import CLinux
import Glibc
import NorrisProtocol
import NorrisSystem
import Synchronization

/// The identity of a connection for other threads. The descriptor may belong to another connection later.
struct ConnectionID: Equatable, Sendable {
    let descriptor: CInt
    let generation: UInt64
}

/// Messages of other threads to the event loop; an eventfd(2) wakes it.
final class Inbox: Sendable {
    enum Message: Sendable {
        /// The result of a deferred request.
        case result(ConnectionID, Result<[UInt8], ResponseError>)
        /// Events wait in the connection's subscription.
        case events(ConnectionID)
        /// Process all received lines, then end.
        case drain
        /// End at once.
        case abort
    }

    private struct State {
        var messages: [Message] = []
        /// Whether the event loop has ended.
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
        // Fails only if the counter is full, and then the loop wakes up anyway.
        _ = write(descriptor, &one, 8)
    }

    /// Returns and removes all messages.
    func removeAll() -> [Message] {
        var count: UInt64 = 0
        // Fails only if there is no message.
        _ = read(descriptor, &count, 8)
        return state.withLock { state in
            defer { state.messages = [] }
            return state.messages
        }
    }

    /// Runs a deferred request, and sends its result to the event loop.
    func run(_ work: Deferred.Work, of connection: ConnectionID) async {
        do throws(ResponseError) {
            send(.result(connection, .success(try await work())))
        } catch {
            send(.result(connection, .failure(error)))
        }
    }

    func close() {
        state.withLock { $0 = State(messages: [], isClosed: true) }
    }
}
