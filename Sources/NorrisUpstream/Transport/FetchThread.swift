import CCurl
import Glibc
import NorrisProtocol
import NorrisSystem
import Synchronization

/// One request to one host.
struct Fetch: Sendable {
    let url: HTTPURL
    let headers: [(name: String, value: String)]
    let settings: HTTPSettings
    /// Of the whole request; ends at `deadline`.
    let timeout: Duration
    let deadline: ContinuousClock.Instant
    /// The error if the peer is private, thrown before the request is sent; nil where any peer will do.
    let privatePeerRefusal: UpstreamError?
}

/// The result of a fetch.
struct Exchange: Sendable {
    /// 0 if no response has come.
    var status = 0
    var headers: HTTPHeaderFields = []
    /// Inflated. Of a response that is neither 200 nor 304 only its beginning.
    var body: [UInt8] = []
    /// Why it is not whole.
    var failure: UpstreamError?
    /// Counts the body as memory.
    var memory: MemoryLease?
}

/// The thread on which libcurl transfers, with one multi handle for all (libcurl-multi(3)). It begins with a fetch and
/// ends, with the connections that are still open, five seconds after the last: an idle daemon has none. Connections
/// are reused in between.
final class FetchThread: Sendable {
    static let shared = FetchThread()
    /// How long connections stay open for another request.
    private static let linger = Duration.seconds(5)

    typealias Continuation = CheckedContinuation<Exchange, Never>

    private enum Command: Sendable {
        case start(Fetch, id: UInt64, Continuation)
        case cancel(id: UInt64)
    }

    // @unchecked Sendable: other threads only call curl_multi_wakeup(3), which may be called from any, and only while
    // they hold the lock of `state`, whose handle is not cleaned up.
    private struct Multi: @unchecked Sendable { let handle: UnsafeMutableRawPointer }

    private struct State {
        var commands: [Command] = []
        /// nil while there is no thread.
        var multi: Multi?
    }

    private let state = Mutex(State())
    private let lastID = Atomic<UInt64>(0)

    func fetch(_ fetch: Fetch) async -> Exchange {
        let id = lastID.add(1, ordering: .relaxed).newValue
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if !post(.start(fetch, id: id, continuation)) { Self.refuse(fetch, continuation) }
            }
        } onCancel: {
            _ = post(.cancel(id: id))
        }
    }

    /// Lets the thread look for memory again, if there is a thread.
    func wake() {
        state.withLock { state in
            if let multi = state.multi { curl_multi_wakeup(multi.handle) }
        }
    }

    private static func refuse(_ fetch: Fetch, _ continuation: Continuation) {
        let fault = "\(fetch.url.authority) cannot be fetched: no memory or thread is left."
        let failure = Task.isCancelled ? .cancelled : UpstreamError(.offline, fault)
        continuation.resume(returning: Exchange(failure: failure))
    }

    /// - Returns: false for a start in a cancelled task, or where there is no thread and none can be made.
    private func post(_ command: Command) -> Bool {
        state.withLock { state in
            if case .start = command {
                // Under the lock: the command of a later cancellation comes behind this one.
                if Task.isCancelled { return false }
                state.multi = state.multi ?? Self.begin()
            }
            guard let multi = state.multi else { return false }
            state.commands.append(command)
            curl_multi_wakeup(multi.handle)
            return true
        }
    }

    /// Calls curl_global_init(3) once.
    private static let isCurlReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    private static func begin() -> Multi? {
        guard isCurlReady, let handle = curl_multi_init() else { return nil }
        let multi = Multi(handle: handle)
        let code = startThread {
            // libcurl's sockets are spared SIGPIPE, OpenSSL's are not. Resolver threads inherit the mask.
            var signals = sigset_t()
            sigfillset(&signals)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            pthread_setname_np(pthread_self(), "norris-fetch")
            FetchThread.shared.run(multi)
        }
        guard code == 0 else {
            curl_multi_cleanup(handle)
            return nil
        }
        return multi
    }

    private func run(_ multi: Multi) {
        var transfers: [Transfer] = []
        let memory = BodyMemory(ledger: .shared)
        /// Removes the transfer; this never waits, for a lookup that still runs is left alone.
        func end(_ transfer: Transfer, _ failure: UpstreamError?) {
            transfers.removeAll { $0 === transfer }
            memory.remove(transfer)
            curl_multi_remove_handle(multi.handle, transfer.easy)
            transfer.exchange.failure = failure
            transfer.exchange.memory?.shrink(to: transfer.exchange.body.count)
            transfer.continuation.resume(returning: transfer.exchange)
        }
        var busyUntil = ContinuousClock.now
        while true {
            let commands = state.withLock { state in
                defer { state.commands = [] }
                return state.commands
            }
            for command in commands {
                switch command {
                case .start(let fetch, let id, let continuation):
                    if let transfer = Transfer(fetch, id, continuation, in: multi.handle, memory) {
                        transfers.append(transfer)
                    } else {
                        Self.refuse(fetch, continuation)
                    }
                case .cancel(let id): for transfer in transfers where transfer.id == id { end(transfer, .cancelled) }
                }
            }
            for transfer in memory.waiting { transfer.resume() }
            var count: CInt = 0
            curl_multi_perform(multi.handle, &count)
            while let message = curl_multi_info_read(multi.handle, &count)?.pointee {
                guard let transfer = transfers.first(where: { $0.easy == message.easy_handle }) else { continue }
                end(transfer, transfer.failure(message.data.result))
            }
            let now = ContinuousClock.now
            for transfer in transfers {
                if let failure = transfer.timeout(at: now) { end(transfer, failure) }
            }
            if !transfers.isEmpty { busyUntil = now }
            let wakeUp = transfers.map(\.timesOutAt).min() ?? (busyUntil + Self.linger)
            if transfers.isEmpty, wakeUp <= now, hasEnded() {
                curl_multi_cleanup(multi.handle)
                return
            }
            // Rounded up, so that the moment has come when it returns.
            let milliseconds = max((wakeUp - now) / .milliseconds(1), 0).rounded(.up)
            if curl_multi_poll(multi.handle, nil, 0, CInt(min(milliseconds, 86_400_000)), nil) != CURLM_OK {
                // Without memory, for example: it must not become a busy loop.
                usleep(50_000)
            }
        }
    }

    /// Whether the thread may end; from then on another may begin.
    private func hasEnded() -> Bool {
        state.withLock { state in
            guard state.commands.isEmpty else { return false }
            state.multi = nil
            return true
        }
    }
}
