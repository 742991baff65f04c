// `environ` is what getenv(3) reads; nothing in norrisctl ever changes it.
@preconcurrency import Glibc

/// A program that has been started, and norrisctl's ends of its pipes.
struct SpawnedProcess {
    let processID: pid_t
    /// Whether it and all it starts are a session apart from the terminal's.
    let leadsSession: Bool
    /// Where its standard input is written to and its output is read from, for the caller to close; neither blocks.
    /// -1 where there is none.
    private(set) var input: Int32 = -1
    private(set) var output: Int32 = -1

    init(_ request: SubprocessRequest, file: String, signalMask: sigset_t) throws(SystemError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }

        leadsSession = if case .terminal = request.output { false } else { true }
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
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // norrisctl ignores these and blocks others, and a program would inherit both.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        sigaddset(&signals, SIGXFSZ)
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
            throw SystemError(errno: failure)
        }
        self.processID = processID
    }
}

/// A pipe between norrisctl, whose end does not block, and a program.
private struct Pipe {
    let ours: Int32
    let theirs: Int32

    /// - Parameter writes: whether norrisctl writes, not reads.
    init(writes: Bool) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError(errno: errno) }
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
