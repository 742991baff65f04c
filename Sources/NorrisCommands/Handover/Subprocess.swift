import Glibc
import NorrisClient

/// Runs a program to its end, or for as long as it is given.
///
/// A signal that would end norrisctl is kept back until the program has been ended, so that none is left behind. Unless
/// it shares the terminal, the program leads a session of its own, and is ended together with all it has started.
///
/// - Parameter tick: called many times a second while output is collected.
package func runSubprocess(_ request: SubprocessRequest, tick: () -> Void = {}) -> SubprocessOutcome {
    let path = getenv("PATH").map { String(cString: $0) } ?? ""
    guard let file = executable(named: request.program, in: path) else { return .missing }
    return holdingSignalsBack { signals, before in
        do throws(SpawnError) {
            var subprocess = try Subprocess(request, file: file, signals: signals, signalMask: before)
            return subprocess.outcome(tick)
        } catch {
            return .notStarted(errno: error.errno)
        }
    }
}

/// A program while norrisctl waits for it.
private struct Subprocess: ~Copyable {
    private let request: SubprocessRequest
    private let spawned: SpawnedProcess
    /// Those at which it is ended.
    private let signals: [Int32]
    private let terminal: TerminalState?
    /// -1 once closed.
    private var input: Int32
    private var output: Int32
    /// What its standard input has not taken yet.
    private var rest: ArraySlice<UInt8> = []
    private var collected: [UInt8] = []

    init(
        _ request: SubprocessRequest, file: String, signals: [Int32], signalMask: sigset_t
    ) throws(SpawnError) {
        self.request = request
        // Keys that are typed at it are its own affair: they signal all that is in front at the terminal, and it may
        // well go on. norrisctl waits, as system(3) does, and is ended by them when it has ended.
        self.signals = request.input == .inherited ? signals.filter { ![SIGINT, SIGQUIT].contains($0) } : signals
        terminal = if case .terminal(let reset) = request.output { TerminalState(reset: reset) } else { nil }
        spawned = try SpawnedProcess(request, file: file, signalMask: signalMask)
        (input, output) = (spawned.input, spawned.output)
        if case .bytes(let bytes) = request.input {
            rest = bytes[...]
        }
    }

    deinit {
        close(input)
        close(output)
    }

    mutating func outcome(_ tick: () -> Void) -> SubprocessOutcome {
        let deadline = request.timeout.map { Deadline(after: $0) } ?? .never
        while true {
            var status: Int32 = 0
            // Asked before its output is read: what has ended writes nothing more.
            let hasEnded = waitpid(spawned.processID, &status, WNOHANG) == spawned.processID
            feed()
            guard collect() else {
                if !hasEnded { stop() }
                return .tooLarge
            }
            if hasEnded {
                if status != 0 { terminal?.restore() }
                let signal = status & 0x7F
                return .ended(status: signal == 0 ? (status >> 8) & 0xFF : 128 + signal, output: collected)
            }
            if isToEnd() {
                stop()
                return .interrupted
            }
            if deadline.hasPassed {
                guard !request.mayGoOn else { return .goesOn }
                stop()
                return .timedOut
            }
            wait(tick)
        }
    }

    /// Until something can be done, or a moment for what poll(2) does not tell: an end, a signal, the deadline.
    private func wait(_ tick: () -> Void) {
        var milliseconds: Int32 = 20
        if case .collected = request.output {
            tick()
            // One that has closed its output is about to end.
            if output < 0 { milliseconds = 1 }
        }
        // A descriptor below zero is passed over.
        var entries = [
            pollfd(fd: input, events: Int16(POLLOUT), revents: 0),
            pollfd(fd: output, events: Int16(POLLIN), revents: 0),
        ]
        poll(&entries, nfds_t(entries.count), milliseconds)
    }

    /// Writes what its standard input takes now, and closes it at the end.
    private mutating func feed() {
        while input >= 0 {
            let count = rest.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0, errno == EAGAIN {
                return
            } else if count == 0 || errno != EINTR {
                // All is written, or it reads no more.
                rest = []
                close(input)
                input = -1
            }
        }
    }

    /// Reads what there is now.
    ///
    /// - Returns: false if that is more than it may be.
    private mutating func collect() -> Bool {
        guard case .collected(let limit) = request.output else { return true }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while output >= 0 {
            let count = read(output, &buffer, buffer.count)
            if count > 0 {
                collected += buffer[..<count]
                guard collected.count <= limit else { return false }
            } else if count < 0, errno == EAGAIN {
                return true
            } else if count == 0 || errno != EINTR {
                close(output)
                output = -1
            }
        }
        return true
    }

    /// Whether a signal is kept back.
    private func isToEnd() -> Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return signals.contains { sigismember(&pending, $0) == 1 }
    }

    private func stop() {
        kill(spawned.leadsSession ? -spawned.processID : spawned.processID, SIGKILL)
        while waitpid(spawned.processID, nil, 0) < 0, errno == EINTR {}
        terminal?.restore()
    }
}
