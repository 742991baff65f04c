import CCurl
import Glibc
import NorrisProtocol
import NorrisThreads
import Synchronization

/// One request to one host.
struct Fetch: Sendable {
    let url: HTTPURL
    let headers: [(name: String, value: String)]
    let settings: HTTPSettings
    /// The limit for the whole request, which ends at `deadline`.
    let timeout: Duration
    let deadline: ContinuousClock.Instant
    /// The error thrown before the request is sent if the peer is private; nil if every peer is accepted.
    let privatePeerRefusal: UpstreamError?
}

struct Exchange: Sendable {
    /// The status; 0 without a response.
    var status = 0
    var headers: HTTPHeaderFields = []
    /// The inflated body; only its beginning unless the status is 200 or 304.
    var body: [UInt8] = []
    /// The reason why the response is incomplete.
    var failure: UpstreamError?
    var memory: MemoryLease?
}

/// The thread of all transfers, with one multi handle of libcurl (libcurl-multi(3)). The first fetch starts the thread.
/// Five seconds after the last fetch, the thread closes the connections, which fetches share, and ends.
final class FetchThread: Sendable {
    static let shared = FetchThread()
    private static let linger = Duration.seconds(5)

    typealias Continuation = CheckedContinuation<Exchange, Never>

    private enum Command: Sendable {
        case start(Fetch, id: UInt64, Continuation)
        case cancel(id: UInt64)
    }

    // @unchecked Sendable: other threads only call curl_multi_wakeup(3), which is thread-safe, and only with the lock
    // of `state`. The handle is destroyed after its removal from `state`.
    private struct Multi: @unchecked Sendable { let handle: UnsafeMutableRawPointer }

    private struct State {
        var commands: [Command] = []
        /// nil while the thread does not run.
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

    /// Makes the thread, if it runs, try again to continue paused transfers.
    func wake() {
        state.withLock { state in
            if let multi = state.multi { curl_multi_wakeup(multi.handle) }
        }
    }

    private static func refuse(_ fetch: Fetch, _ continuation: Continuation) {
        // The pointer is never nil (curl_version_info(3)).
        let curl = curl_version_info(CURLVERSION_FIRST)!.pointee
        let reason = refusal(curl: curl.version_num, String(cString: curl.version))
        let fault = "\(fetch.url.authority) cannot be fetched: \(reason)"
        let failure = Task.isCancelled ? .cancelled : UpstreamError(.offline, fault)
        continuation.resume(returning: Exchange(failure: failure))
    }

    /// Describes why no transfer can begin.
    ///
    /// - Parameter curl: the version of libcurl, as libcurl encodes it. All options of a ``Transfer`` exist since 7.87.0
    ///   (CURLOPT_QUICK_EXIT(3)).
    static func refusal(curl: CUnsignedInt, _ name: String) -> String {
        guard curl >= 0x075700 else { return "libcurl \(name) is too old; install 7.87 or newer." }
        return "norrisd is out of memory or threads."
    }

    /// - Returns: false for a start in a cancelled task, or if no thread can be started.
    private func post(_ command: Command) -> Bool {
        state.withLock { state in
            if case .start = command {
                // Checked with the lock, so that a later cancellation follows this command in the queue.
                if Task.isCancelled { return false }
                state.multi = state.multi ?? Self.begin()
            }
            guard let multi = state.multi else { return false }
            state.commands.append(command)
            curl_multi_wakeup(multi.handle)
            return true
        }
    }

    private static let isCurlReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    private static func begin() -> Multi? {
        guard isCurlReady, let handle = curl_multi_init() else { return nil }
        let multi = Multi(handle: handle)
        let code = startThread {
            // OpenSSL's sockets raise SIGPIPE, libcurl's do not. Resolver threads inherit the mask.
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
        /// Removes a transfer. Never blocks, because a name lookup in progress is abandoned.
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
            // Rounded up, so that the deadline has passed when curl_multi_poll(3) returns.
            let milliseconds = max((wakeUp - now) / .milliseconds(1), 0).rounded(.up)
            if curl_multi_poll(multi.handle, nil, 0, CInt(min(milliseconds, 86_400_000)), nil) != CURLM_OK {
                // Avoids a busy loop if polling fails, for example without memory.
                usleep(50_000)
            }
        }
    }

    /// Whether the thread may end, because no command is pending. The next fetch then starts a new thread.
    private func hasEnded() -> Bool {
        state.withLock { state in
            guard state.commands.isEmpty else { return false }
            state.multi = nil
            return true
        }
    }
}
