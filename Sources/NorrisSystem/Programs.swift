package import Glibc

/// Starts a program with other standard descriptors, and without further descriptors (posix_spawn(3)).
///
/// - Parameters:
///   - environment: `NAME=VALUE` each; nil for the environment of this process.
///   - descriptors: those that become the descriptors 0, 1, 2 and so on of the program; nil to inherit this process's.
///     They are above 2 and closed on exec.
///   - group: how the program leads other processes, so that they can be ended together; nil for this process's group.
///   - defaults: the signals with their default action; nil for all.
///   - mask: the blocked signals.
package func startProgram(
    _ file: String, _ arguments: [String], environment: [String]? = nil, descriptors: [CInt?], group: ProcessGroup?,
    defaults: [CInt]? = nil, mask: sigset_t = sigset_t()
) throws(SystemError) -> ChildProcess {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for case (let target, let descriptor?) in descriptors.enumerated() {
        posix_spawn_file_actions_adddup2(&actions, descriptor, CInt(target))
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var (signals, mask) = (sigset_t(), mask)
    if let defaults {
        sigemptyset(&signals)
        for signal in defaults { sigaddset(&signals, signal) }
    } else {
        sigfillset(&signals)
    }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
        &attributes, Int16(CInt(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | (group?.rawValue ?? 0)))
    let words = arguments.map { strdup($0) } + [nil]
    let variables = environment.map { $0.map { strdup($0) } + [nil] }
    defer { (words + (variables ?? [])).forEach { free($0) } }
    var pid = pid_t()
    let code =
        if let variables {
            posix_spawn(&pid, file, &actions, &attributes, words, variables)
        } else {
            posix_spawn(&pid, file, &actions, &attributes, words, environ)
        }
    guard code == 0 else { throw SystemError("posix_spawn", code: code) }
    return ChildProcess(id: pid)
}

/// The processes that a program leads.
package enum ProcessGroup: CInt {
    /// A separate process group, in the session of this process.
    case group = 2  // POSIX_SPAWN_SETPGROUP
    /// A separate session, without the terminal. Swift does not import the constant, which depends on a feature
    /// macro of glibc.
    case session = 0x80  // POSIX_SPAWN_SETSID
}

/// A process that this process has started and not reaped.
package struct ChildProcess: Equatable, Sendable {
    package let id: pid_t

    /// How a process ended (waitpid(2)).
    package enum End: Equatable, Sendable {
        case exited(status: CInt)
        case killed(signal: CInt)
    }

    /// Whether the process has ended by a deadline. Asks again and again, because some containers refuse pidfd_open(2).
    package func hasEnded(by deadline: Deadline = Deadline(after: .zero)) -> Bool {
        var end = siginfo_t()
        while waitid(P_PID, id_t(id), &end, WEXITED | WNOHANG | WNOWAIT) == 0, end.si_signo == 0 {
            if deadline.hasPassed { return false }
            poll(nil, 0, 2)
        }
        return true
    }

    /// Kills the process, and the group that it was started to lead, which it may have left.
    package func kill() {
        _ = Glibc.kill(-id, SIGKILL)
        _ = Glibc.kill(id, SIGKILL)
    }

    /// Reaps the process, after which another process may get its number. Returns nil if it has not ended by a
    /// deadline, such as one that waits inside the kernel.
    @discardableResult
    package func reap(by deadline: Deadline = Deadline(after: .zero)) -> End? {
        var status: CInt = 0
        guard hasEnded(by: deadline), waitpid(id, &status, WNOHANG) == id else { return nil }
        let signal = status & 0x7F
        return signal == 0 ? .exited(status: status >> 8 & 0xFF) : .killed(signal: signal)
    }
}

/// A pipe to or from a program. The ends are closed on exec, and at the latest when the pipe is released.
package final class ProgramPipe {
    /// -1 if closed.
    package private(set) var reading: CInt, writing: CInt

    package init() throws(SystemError) { (reading, writing) = try makePipe() }

    deinit {
        closeReading()
        closeWriting()
    }

    package func closeReading() {
        if reading >= 0 { close(reading) }
        reading = -1
    }

    package func closeWriting() {
        if writing >= 0 { close(writing) }
        writing = -1
    }

    /// Reads the bytes that the pipe contains now, at most 64 KiB. Closes the reading end at the end of the pipe.
    package func read() -> [UInt8] {
        guard ProgramPipe.isReady(reading, POLLIN) else { return [] }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = Glibc.read(reading, &bytes, bytes.count)
        if count == 0 || count < 0 && errno != EINTR { closeReading() }
        return Array(bytes.prefix(max(count, 0)))
    }

    /// Writes the bytes that the pipe accepts now, and removes them. Closes the writing end after the last byte, or if
    /// the program has closed its input. SIGPIPE must be ignored.
    package func write(_ bytes: inout ArraySlice<UInt8>) {
        while writing >= 0 {
            guard !bytes.isEmpty else { return closeWriting() }
            guard ProgramPipe.isReady(writing, POLLOUT) else { return }
            // At most PIPE_BUF bytes, which a pipe that is ready accepts without blocking (pipe(7)).
            let count = bytes.prefix(4096).withUnsafeBytes { Glibc.write(writing, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes = bytes.dropFirst(count)
            } else if errno != EINTR {
                closeWriting()
            }
        }
    }

    private static func isReady(_ descriptor: CInt, _ event: CInt) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    /// Waits until one of the pipes is ready, a signal comes or a deadline passes. Closed ends are left out.
    package static func wait(toRead: [ProgramPipe], toWrite: [ProgramPipe] = [], until deadline: Deadline) {
        var entries =
            toRead.map { pollfd(fd: $0.reading, events: Int16(POLLIN), revents: 0) }
            + toWrite.map { pollfd(fd: $0.writing, events: Int16(POLLOUT), revents: 0) }
        poll(&entries, nfds_t(entries.count), deadline.pollTimeout)
    }
}
