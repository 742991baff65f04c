import Glibc
import NorrisClient
import NorrisSystem

/// A program for norrisctl to run. No shell interprets its arguments.
struct SubprocessRequest: Equatable, Sendable {
    enum Input: Equatable, Sendable {
        case nothing
        case bytes([UInt8])
        /// Standard input of norrisctl. The program handles SIGINT and SIGQUIT from the keyboard.
        case inherited
    }

    enum Output: Equatable, Sendable {
        case discarded
        /// Stored up to a limit in bytes. A program that writes more is killed.
        case collected(limit: Int)
        /// Standard output of norrisctl, a terminal, which gets the reset bytes if the program fails.
        case terminal(reset: [UInt8])
    }

    /// A path, or a name in a folder of `PATH`.
    var program: String
    var arguments: [String]
    var input = Input.nothing
    var output = Output.discarded
    /// Whether the program inherits standard error. If not, it is discarded, because it may quote network data.
    var inheritsErrors = false
    /// Whether standard error is collected together with the output.
    var collectsErrors = false
    /// Whether SIGINT and SIGQUIT are only for the program. norrisctl ignores them during the run, as system(3) does.
    var keepsKeys = false
    /// nil sets no limit.
    var timeout: Duration?
    /// Whether a program that exceeds the timeout continues instead of being killed.
    var mayGoOn = false
}

enum SubprocessOutcome: Equatable, Sendable {
    /// No executable is at the path, or in a folder of `PATH`.
    case missing
    /// The system did not start the program.
    case notStarted(errno: Int32)
    /// - Parameter status: The exit status, or 128 plus the number of the signal that ended the program, as in shells.
    case ended(status: Int32, output: [UInt8] = [])
    /// Killed, because the program wrote more than the limit.
    case tooLarge
    case timedOut
    /// Killed, because a signal ends norrisctl.
    case interrupted
    /// Still running after the timeout.
    case goesOn
}

extension Failure {
    /// - Parameter packages: Debian packages, separated by a space.
    static func missing(_ program: String, packages: String) -> Failure {
        Failure(.unavailable, "\(program) is not installed.", hint: "apt install \(packages)")
    }

    /// A program that did not start, or was killed before its end.
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
/// Signals that end norrisctl are blocked until the program has ended, so that none is left behind. A program without
/// the terminal leads a separate session, and is killed together with the processes that it has started.
///
/// - Parameter tick: Called many times a second while output is collected.
func runSubprocess(_ request: SubprocessRequest, tick: () -> Void = {}) -> SubprocessOutcome {
    let path = getenv("PATH").map { String(cString: $0) } ?? ""
    guard let file = executable(named: request.program, in: path) else { return .missing }
    let keys = request.keepsKeys ? [SIGINT, SIGQUIT].filter { !isIgnored($0) } : []
    let actions = keys.map { ($0, signal($0, SIG_IGN)) }
    defer { for (key, action) in actions { signal(key, action) } }
    // An ignored signal, as below nohup(1), ends nothing, but would be pending if it were blocked.
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

private struct Subprocess: ~Copyable {
    private let request: SubprocessRequest
    private let processID: pid_t
    /// Whether the program leads a session apart from the terminal's session.
    private let leadsSession: Bool
    /// The signals that end the program.
    private let signals: [Int32]
    private let terminal: TerminalState?
    /// The nonblocking ends of the pipes to standard input and from standard output. -1 if absent or closed.
    private var input: Int32
    private var output: Int32
    /// The bytes that standard input has not accepted yet.
    private var rest: ArraySlice<UInt8> = []
    private var collected: [UInt8] = []

    /// - Parameter keys: The signals that norrisctl ignores, but the program does not.
    init(
        _ request: SubprocessRequest, file: String, keys: [Int32], signals: [Int32], signalMask: sigset_t
    ) throws(SystemError) {
        self.request = request
        // The kernel sends keyboard signals to the whole foreground process group, and the program may continue.
        // norrisctl waits, as system(3) does, and the signals end norrisctl after the program.
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

    private static func spawn(
        _ request: SubprocessRequest, _ file: String, _ keys: [Int32], _ signalMask: sigset_t, leadsSession: Bool
    ) throws(SystemError) -> (processID: pid_t, input: Int32, output: Int32) {
        // The program's ends of the pipes, open until the program has started.
        var theirs: [Int32] = []
        var (input, output): (Int32, Int32) = (-1, -1)
        defer { for descriptor in theirs { close(descriptor) } }
        do throws(SystemError) {
            let null = try openFile("/dev/null", O_RDWR)
            theirs.append(null)
            var descriptors: [Int32?] = [null, null, request.inheritsErrors ? nil : null]
            switch request.input {
            case .nothing: break
            case .inherited: descriptors[0] = nil
            case .bytes:
                let pipe = try makePipe()
                theirs.append(pipe.reading)
                (descriptors[0], input) = (pipe.reading, pipe.writing)
            }
            switch request.output {
            case .discarded: break
            case .terminal: descriptors[1] = nil
            case .collected:
                let pipe = try makePipe()
                theirs.append(pipe.writing)
                (descriptors[1], output) = (pipe.writing, pipe.reading)
                if request.collectsErrors { descriptors[2] = pipe.writing }
            }
            for descriptor in [input, output] where descriptor >= 0 { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
            // The program would inherit the signals that norrisctl ignores or blocks.
            let processID = try startProgram(
                file, [request.program] + request.arguments, descriptors: descriptors,
                group: leadsSession ? .session : nil, defaults: [SIGPIPE, SIGXFSZ] + keys, mask: signalMask)
            return (processID, input, output)
        } catch {
            close(input)
            close(output)
            throw error
        }
    }

    mutating func outcome(_ tick: () -> Void) -> SubprocessOutcome {
        let deadline = request.timeout.map { Deadline(after: $0) } ?? .never
        while true {
            var status: Int32 = 0
            // Before the last read, because a program writes nothing after its end.
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

    /// Waits for the pipes, at most 20 ms, because poll(2) does not report the program's end, a signal or the deadline.
    private func wait(_ tick: () -> Void) {
        var milliseconds: Int32 = 20
        if case .collected = request.output {
            tick()
            // A program that has closed its output is about to end.
            if output < 0 { milliseconds = 1 }
        }
        // poll(2) ignores negative descriptors.
        var entries = [
            pollfd(fd: input, events: Int16(POLLOUT), revents: 0),
            pollfd(fd: output, events: Int16(POLLIN), revents: 0),
        ]
        poll(&entries, nfds_t(entries.count), milliseconds)
    }

    /// Writes the bytes that standard input accepts now, and closes it at the end.
    private mutating func feed() {
        while input >= 0 {
            let count = rest.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0, errno == EAGAIN {
                return
            } else if count == 0 || errno != EINTR {
                // All bytes are written, or the program has closed its input.
                rest = []
                close(input)
                input = -1
            }
        }
    }

    /// Reads the available output. Returns whether the output is within the limit.
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

    /// Whether a signal that would end norrisctl is pending.
    private func isToEnd() -> Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return signals.contains { sigismember(&pending, $0) == 1 }
    }

    private func stop() {
        if leadsSession {
            kill(-processID, SIGKILL)
        } else {
            // The program may be a shell, and its programs are in the group that the shell of the user made for
            // norrisctl. A signal that norrisctl has already got is pending, so this one changes nothing for it.
            kill(getpgrp() == getpid() ? 0 : processID, SIGTERM)
            let deadline = Deadline(after: .seconds(1))
            while waitpid(processID, nil, WNOHANG) == 0 {
                if deadline.hasPassed { kill(processID, SIGKILL) }
                poll(nil, 0, 10)
            }
        }
        while waitpid(processID, nil, 0) < 0, errno == EINTR {}
        terminal?.restore()
    }
}

/// Returns the file of a program: the path itself, the first executable with the name in a `PATH`, or nil. Relative
/// folders are skipped, because their meaning depends on the working directory.
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

/// The state of the terminal at standard output before a program uses it.
struct TerminalState {
    private let reset: [UInt8]
    /// nil if the attributes are unavailable.
    private let attributes: termios?

    init(reset: [UInt8]) {
        self.reset = reset
        var attributes = termios()
        self.attributes = tcgetattr(STDOUT_FILENO, &attributes) == 0 ? attributes : nil
    }

    /// Restores the terminal after a program that may have changed its state.
    func restore() {
        // In the background, the terminal belongs to another program, and a change would stop norrisctl (SIGTTOU).
        if var attributes, tcgetpgrp(STDOUT_FILENO) == getpgrp() { tcsetattr(STDOUT_FILENO, TCSANOW, &attributes) }
        write(STDOUT_FILENO, reset, reset.count)
    }
}
