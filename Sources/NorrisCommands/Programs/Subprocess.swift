import Glibc
import NorrisSystem
import NorrisTerminal

/// A program for norrisctl to run. No shell interprets its arguments.
struct SubprocessRequest {
    enum Input {
        case nothing
        case bytes([UInt8])
        /// Standard input of norrisctl. The program handles SIGINT and SIGQUIT from the keyboard.
        case inherited
    }

    enum Output {
        case discarded
        /// Stored up to a limit in bytes, on request with standard error. A program that writes more is killed.
        case collected(limit: Int, withErrors: Bool = false)
        /// Standard output of norrisctl, a terminal, which gets the reset bytes if the program fails.
        case terminal(reset: [UInt8])
    }

    /// A path, or a name in a folder of `PATH`.
    var program: String
    var arguments: [String]
    var input = Input.nothing
    var output = Output.discarded
    /// Whether the program is for the keys of the user. It inherits standard error, which is discarded otherwise,
    /// because it may quote network data. norrisctl ignores SIGINT and SIGQUIT during the run, as system(3) does.
    var isInteractive = false
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
    /// Ended, because the program wrote more than the limit.
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
        Failure(.unavailable, "\(program) is not installed.", hint: "sudo apt install \(value: packages)")
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

extension System {
    /// Whether a program is at a path, or in a folder of `PATH`.
    func hasProgram(_ program: String) -> Bool { executable(named: program, in: environment["PATH"] ?? "") != nil }

    /// Runs a program to its end, or until its timeout. The waiting line is updated while output is collected.
    ///
    /// Signals that end norrisctl are blocked until the program has ended, so that none is left behind. A program
    /// without the terminal leads a separate session, and is killed together with the processes that it has started.
    func run(_ request: SubprocessRequest) -> SubprocessOutcome {
        waiting.erase()
        guard let file = executable(named: request.program, in: environment["PATH"] ?? "") else { return .missing }
        let keys = request.isInteractive ? [SIGINT, SIGQUIT].filter { !isIgnored($0) } : []
        let actions = keys.map { ($0, signal($0, SIG_IGN)) }
        defer { for (key, action) in actions { signal(key, action) } }
        // An ignored signal, as below nohup(1), ends nothing, but would be pending if it were blocked.
        let signals = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].filter { !isIgnored($0) }
        var before = blockSignals(signals)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        do throws(SystemError) {
            let terminal: TerminalState? =
                if case .terminal(let reset) = request.output { TerminalState(output, reset: reset) } else { nil }
            var pipes = Pipes()
            let process = try pipes.connect(request, self) { descriptors throws(SystemError) in
                // The program would inherit the signals that norrisctl ignores or blocks.
                try startProgram(
                    file, [request.program] + request.arguments, descriptors: descriptors,
                    group: terminal == nil ? .session : nil, defaults: [SIGPIPE, SIGXFSZ] + keys, mask: before)
            }
            return outcome(of: process, request, signals, terminal, &pipes)
        } catch {
            return .notStarted(errno: error.code)
        }
    }

    private func outcome(
        of process: ChildProcess, _ request: SubprocessRequest, _ signals: [Int32], _ terminal: TerminalState?,
        _ pipes: inout Pipes
    ) -> SubprocessOutcome {
        var signals = signals
        // The kernel sends keyboard signals to the whole foreground process group, and the program may continue.
        // norrisctl waits, as system(3) does, and the signals end norrisctl after the program.
        if case .inherited = request.input { signals.removeAll { [SIGINT, SIGQUIT].contains($0) } }
        let deadline = request.timeout.map { Deadline(after: $0) } ?? .never
        while true {
            // Before the last read, because a program writes nothing after its end.
            let end = process.reap()
            pipes.transfer()
            if let end {
                if pipes.isTooLarge { return .tooLarge }
                if end != .exited(status: 0) { terminal?.restore() }
                switch end {
                case .exited(let status): return .ended(status: status, output: pipes.collected)
                case .killed(let signal): return .ended(status: 128 + signal, output: pipes.collected)
                }
            }
            if deadline.hasPassed, request.mayGoOn { return .goesOn }
            let reason: SubprocessOutcome? =
                pipes.isTooLarge ? .tooLarge : isPending(signals) ? .interrupted : deadline.hasPassed ? .timedOut : nil
            if let reason {
                stop(process, terminal)
                return reason
            }
            if case .collected = request.output { _ = waiting.tick() }
            pipes.wait()
        }
    }
}

/// The pipes to standard input and from standard output of a program.
private struct Pipes {
    /// nil if the program has another standard input or output.
    private var input: ProgramPipe?, output: ProgramPipe?
    /// The bytes that standard input has not accepted yet.
    private var rest: ArraySlice<UInt8> = []
    private(set) var collected: [UInt8] = []
    private var limit = Int.max

    var isTooLarge: Bool { collected.count > limit }

    /// Starts a program with the descriptors of a request: nil for one that the program inherits.
    mutating func connect(
        _ request: SubprocessRequest, _ system: System, start: ([CInt?]) throws(SystemError) -> ChildProcess
    ) throws(SystemError) -> ChildProcess {
        func inherited(_ descriptor: CInt) -> CInt? { descriptor > STDERR_FILENO ? descriptor : nil }
        let null = try openFile("/dev/null", O_RDWR)
        defer { close(null) }
        var descriptors: [CInt?] = [null, null, request.isInteractive ? inherited(system.errors) : null]
        switch request.input {
        case .nothing: break
        case .inherited: descriptors[0] = inherited(system.input)
        case .bytes(let bytes):
            let pipe = try ProgramPipe()
            (descriptors[0], input, rest) = (pipe.reading, pipe, bytes[...])
        }
        switch request.output {
        case .discarded: break
        case .terminal: descriptors[1] = inherited(system.output)
        case .collected(let limit, let withErrors):
            let pipe = try ProgramPipe()
            (descriptors[1], output, self.limit) = (pipe.writing, pipe, limit)
            if withErrors { descriptors[2] = pipe.writing }
        }
        let process = try start(descriptors)
        input?.closeReading()
        output?.closeWriting()
        return process
    }

    /// Writes the input that the program accepts now, and reads its output, at most some bytes past the limit.
    mutating func transfer() {
        input?.write(&rest)
        while let output, !isTooLarge, case let bytes = output.read(), !bytes.isEmpty { collected += bytes }
    }

    /// Waits for the pipes, at most 20 ms, because poll(2) does not report the program's end, a signal or the deadline.
    func wait() {
        // A program that has closed its output is about to end.
        let isEnding = output.map { $0.reading < 0 } ?? false
        let deadline = Deadline(after: .milliseconds(isEnding ? 1 : 20))
        ProgramPipe.wait(toRead: [output].compactMap(\.self), toWrite: [input].compactMap(\.self), until: deadline)
    }
}

/// Whether one of the signals, which are blocked, is pending.
private func isPending(_ signals: [Int32]) -> Bool {
    var pending = sigset_t()
    sigpending(&pending)
    return signals.contains { sigismember(&pending, $0) == 1 }
}

/// Blocks signals until the returned mask is set again.
func blockSignals(_ signals: [CInt]) -> sigset_t {
    var (mask, before) = (sigset_t(), sigset_t())
    sigemptyset(&mask)
    signals.forEach { sigaddset(&mask, $0) }
    pthread_sigmask(SIG_BLOCK, &mask, &before)
    return before
}

private func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    sigaction(signal, nil, &action)
    // Both are addresses of functions, which Swift does not compare.
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
}

/// Ends a program that runs too long, and all that it has started.
private func stop(_ process: ChildProcess, _ terminal: TerminalState?) {
    if terminal == nil {
        process.kill()
    } else {
        // The program may be a shell, and its programs are in the group that the shell of the user made for norrisctl.
        // A signal that norrisctl has already got is pending, so this one changes nothing for it.
        kill(getpgrp() == getpid() ? 0 : process.id, SIGTERM)
        if !process.hasEnded(by: Deadline(after: .seconds(1))) { kill(process.id, SIGKILL) }
    }
    process.reap(by: .never)
    terminal?.restore()
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

/// The state of a terminal before a program uses it.
private struct TerminalState {
    private let descriptor: CInt
    private let reset: [UInt8]
    /// nil if the attributes are unavailable.
    private let attributes: termios?

    init(_ descriptor: CInt, reset: [UInt8]) {
        (self.descriptor, self.reset) = (descriptor, reset)
        var attributes = termios()
        self.attributes = tcgetattr(descriptor, &attributes) == 0 ? attributes : nil
    }

    /// Restores the terminal after a program that may have changed its state.
    func restore() {
        // In the background, the terminal belongs to another program, and a change would stop norrisctl (SIGTTOU).
        if var attributes, tcgetpgrp(descriptor) == getpgrp() { tcsetattr(descriptor, TCSANOW, &attributes) }
        write(descriptor, reset, reset.count)
    }
}
