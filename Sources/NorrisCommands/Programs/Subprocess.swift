// `environ` is what getenv(3) reads; nothing in norrisctl ever changes it.
@preconcurrency import Glibc
import NorrisClient
import NorrisSystem

/// A program to be run beside norrisctl: its arguments go to it as they are, and no shell sees them.
struct SubprocessRequest: Equatable, Sendable {
    enum Input: Equatable, Sendable {
        case nothing
        case bytes([UInt8])
        /// norrisctl's own. SIGINT and SIGQUIT, which keys send, are left to the program.
        case inherited
    }

    enum Output: Equatable, Sendable {
        case discarded
        /// Stored up to so many bytes; a program that writes more is ended.
        case collected(limit: Int)
        /// norrisctl's own, a terminal. The bytes are written to it unless the program ends with status 0.
        case terminal(reset: [UInt8])
    }

    /// A path, or a name to be looked for in the folders of `PATH`.
    var program: String
    var arguments: [String]
    var input = Input.nothing
    var output = Output.discarded
    /// Whether standard error is norrisctl's own; else it is discarded, since it may quote what came from the net.
    var inheritsErrors = false
    /// Whether the keys' signals are for the program alone: norrisctl ignores SIGINT and SIGQUIT meanwhile, as
    /// system(3) does.
    var keepsKeys = false
    /// nil waits for ever.
    var timeout: Duration?
    /// Whether a program that takes longer is left alone, not ended.
    var mayGoOn = false
}

/// How the run of a program ended.
enum SubprocessOutcome: Equatable, Sendable {
    /// It is not at its path, or in no folder of `PATH`.
    case missing
    /// The system refused, with this `errno`.
    case notStarted(errno: Int32)
    /// - Parameter status: 128 and the signal's number for one that a signal ended, as shells have it.
    case ended(status: Int32, output: [UInt8] = [])
    /// It was ended because it wrote more than the limit.
    case tooLarge
    /// It was ended because its time was over.
    case timedOut
    /// It was ended because norrisctl is to end itself.
    case interrupted
    /// Its time is over, and it was left alone.
    case goesOn
}

extension Failure {
    /// - Parameter packages: of Debian, with a space between them.
    static func missing(_ program: String, packages: String) -> Failure {
        Failure(.unavailable, "\(program) is not installed.", hint: "apt install \(packages)")
    }

    /// A program that could not be started, or was ended before its time.
    static func unfinished(_ program: String, _ outcome: SubprocessOutcome) -> Failure {
        switch outcome {
        case .notStarted(let errno):
            Failure(.unavailable, "\(program) cannot be started: \(SystemError.reason(errno)).")
        case .timedOut: Failure(.unavailable, "\(program) took too long and was stopped.")
        case .ended, .goesOn, .interrupted, .missing, .tooLarge: Failure(.unavailable, "\(program) was stopped.")
        }
    }
}

/// Runs a program to its end, or until its timeout.
///
/// A signal that would end norrisctl is blocked until the program has been ended, so that none is left behind. Unless
/// it shares the terminal, the program leads a session of its own, and is ended together with all it has started.
///
/// - Parameter tick: called many times a second while output is collected.
func runSubprocess(_ request: SubprocessRequest, tick: () -> Void = {}) -> SubprocessOutcome {
    let path = getenv("PATH").map { String(cString: $0) } ?? ""
    guard let file = executable(named: request.program, in: path) else { return .missing }
    let keys = request.keepsKeys ? [SIGINT, SIGQUIT].filter { !isIgnored($0) } : []
    let actions = keys.map { ($0, signal($0, SIG_IGN)) }
    defer { for (key, action) in actions { signal(key, action) } }
    // One that is ignored, as below nohup(1), ends nothing; blocked it would be pending all the same.
    let signals = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].filter { !isIgnored($0) }
    var mask = sigset_t()
    sigemptyset(&mask)
    signals.forEach { sigaddset(&mask, $0) }
    var before = sigset_t()
    pthread_sigmask(SIG_BLOCK, &mask, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    do throws(SystemError) {
        var subprocess = try Subprocess(request, file: file, keys: keys, signals: signals, signalMask: before)
        return subprocess.outcome(tick)
    } catch {
        return .notStarted(errno: error.code)
    }
}

private func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    sigaction(signal, nil, &action)
    // Both are addresses of functions, which Swift does not compare.
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
}

/// A program while norrisctl waits for it.
private struct Subprocess: ~Copyable {
    private let request: SubprocessRequest
    private let processID: pid_t
    /// Whether it and all it starts are a session apart from the terminal's.
    private let leadsSession: Bool
    /// Those at which it is ended.
    private let signals: [Int32]
    private let terminal: TerminalState?
    /// Where its standard input is written to and its output is read from; neither blocks. -1 where there is none, or
    /// none any more.
    private var input: Int32
    private var output: Int32
    /// What its standard input has not taken yet.
    private var rest: ArraySlice<UInt8> = []
    private var collected: [UInt8] = []

    /// - Parameters:
    ///   - keys: signals that norrisctl ignores now, and the program does not.
    ///   - signals: those at which it is ended.
    init(
        _ request: SubprocessRequest, file: String, keys: [Int32], signals: [Int32], signalMask: sigset_t
    ) throws(SystemError) {
        self.request = request
        // The keys' signals go to all that is in the foreground of the terminal, and the program may well go on.
        // norrisctl waits, as system(3) does, and is ended by them when the program has ended.
        self.signals = request.input == .inherited ? signals.filter { ![SIGINT, SIGQUIT].contains($0) } : signals
        terminal = if case .terminal(let reset) = request.output { TerminalState(reset: reset) } else { nil }
        leadsSession = terminal == nil
        (processID, input, output) = try Self.spawn(request, file, keys, signalMask, leadsSession: leadsSession)
        if case .bytes(let bytes) = request.input { rest = bytes[...] }
    }

    deinit {
        close(input)
        close(output)
    }

    /// - Returns: with norrisctl's ends of the pipes.
    private static func spawn(
        _ request: SubprocessRequest, _ file: String, _ keys: [Int32], _ signalMask: sigset_t, leadsSession: Bool
    ) throws(SystemError) -> (processID: pid_t, input: Int32, output: Int32) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }

        var (input, output): (Int32, Int32) = (-1, -1)
        var pipes: [Pipe] = []
        // The program's own ends of the pipes, open until it has been started.
        defer { pipes.forEach { close($0.theirs) } }
        switch request.input {
        case .nothing: posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        case .inherited: break
        case .bytes:
            pipes.append(try Pipe(writes: true))
            input = pipes[0].ours
            posix_spawn_file_actions_adddup2(&actions, pipes[0].theirs, STDIN_FILENO)
        }
        switch request.output {
        case .discarded: posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        case .terminal: break
        case .collected:
            let pipe = try Pipe(writes: false)
            pipes.append(pipe)
            output = pipe.ours
            posix_spawn_file_actions_adddup2(&actions, pipe.theirs, STDOUT_FILENO)
        }
        if !request.inheritsErrors {
            posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // norrisctl ignores these and blocks others, and a program would inherit both.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        sigaddset(&signals, SIGXFSZ)
        keys.forEach { sigaddset(&signals, $0) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        var signalMask = signalMask
        posix_spawnattr_setsigmask(&attributes, &signalMask)
        let flags = Int32(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | (leadsSession ? newSession : 0)
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var arguments: [UnsafeMutablePointer<CChar>?] = ([request.program] + request.arguments).map { strdup($0) }
        arguments.append(nil)
        defer { arguments.forEach { free($0) } }
        var processID = pid_t()
        let failure = posix_spawn(&processID, file, &actions, &attributes, arguments, environ)
        guard failure == 0 else {
            pipes.forEach { close($0.ours) }
            throw SystemError("posix_spawn", code: failure)
        }
        return (processID, input, output)
    }

    mutating func outcome(_ tick: () -> Void) -> SubprocessOutcome {
        let deadline = request.timeout.map { Deadline(after: $0) } ?? .never
        while true {
            var status: Int32 = 0
            // Asked before its output is read: what has ended writes nothing more.
            let hasEnded = waitpid(processID, &status, WNOHANG) == processID
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

    /// Until something can be done, or a moment for what poll(2) does not report: an end, a signal, the deadline.
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

    /// Whether a signal is blocked that would end norrisctl.
    private func isToEnd() -> Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return signals.contains { sigismember(&pending, $0) == 1 }
    }

    private func stop() {
        kill(leadsSession ? -processID : processID, SIGKILL)
        while waitpid(processID, nil, 0) < 0, errno == EINTR {}
        terminal?.restore()
    }
}

/// A pipe between norrisctl, whose end does not block, and a program.
private struct Pipe {
    let ours: Int32
    let theirs: Int32

    /// - Parameter writes: whether norrisctl writes, not reads.
    init(writes: Bool) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError("pipe") }
        // Programs do not inherit these, and they are none of the standard three, which the program's own replace.
        let moved = ends.map { fcntl($0, F_DUPFD_CLOEXEC, 3) }
        ends.forEach { close($0) }
        ours = moved[writes ? 1 : 0]
        theirs = moved[writes ? 0 : 1]
        _ = fcntl(ours, F_SETFL, O_NONBLOCK)
    }
}

/// `POSIX_SPAWN_SETSID` of glibc, which Swift does not see because it depends on a feature macro.
private let newSession: Int32 = 0x80

/// The file of a program: the one that a path names, or for a name that in the first folder of a `PATH` that has it;
/// nil if there is none.
///
/// Folders that are not absolute are passed over: what they mean depends on where norrisctl was started.
func executable(named program: String, in path: String) -> String? {
    if program.utf8.contains(UInt8(ascii: "/")) { return isExecutable(program) ? program : nil }
    for folder in path.utf8.split(separator: UInt8(ascii: ":")) where folder.first == UInt8(ascii: "/") {
        let file = "\(Substring(folder))/\(program)"
        if isExecutable(file) { return file }
    }
    return nil
}

private func isExecutable(_ file: String) -> Bool {
    var status = stat()
    return stat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(file, X_OK) == 0
}

/// The state of the terminal at standard output before a program gets it.
struct TerminalState {
    /// What is written to it to reset it.
    private let reset: [UInt8]
    /// nil if it cannot be asked.
    private let attributes: termios?

    init(reset: [UInt8]) {
        self.reset = reset
        var attributes = termios()
        self.attributes = tcgetattr(STDOUT_FILENO, &attributes) == 0 ? attributes : nil
    }

    /// Restores it after a program that may have changed it.
    func restore() {
        // In the background it belongs to another program, and changing it would stop norrisctl (SIGTTOU).
        if var attributes, tcgetpgrp(STDOUT_FILENO) == getpgrp() { tcsetattr(STDOUT_FILENO, TCSANOW, &attributes) }
        write(STDOUT_FILENO, reset, reset.count)
    }
}
