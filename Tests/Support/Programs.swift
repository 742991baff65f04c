import Foundation
package import Glibc
import NorrisSystem

/// The programs under test: beside the test bundle, or in `$NORRIS_PROGRAMS`.
package enum Programs {
    package static let norrisCard = folder + "/norris-card"
    package static let norrisctl = folder + "/norrisctl"
    package static let norrisd = folder + "/norrisd"
    package static let norrisFetch = folder + "/norris-fetch"
    package static let norrisSandboxProbe = folder + "/norris-sandbox-probe"

    /// Whether the programs are debug builds, which are many times slower.
    package static var areDebug: Bool { ProcessInfo.processInfo.environment["NORRIS_PROGRAMS"] == nil }

    /// Whether a sanitizer is built in, which takes memory, and does not work in a program that is traced.
    package static var areSanitized: Bool { ProcessInfo.processInfo.environment["NORRIS_SANITIZE"] != nil }

    private static var folder: String {
        if let folder = ProcessInfo.processInfo.environment["NORRIS_PROGRAMS"] { return folder }
        let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        return bundle.deletingLastPathComponent().path
    }
}

/// The output and the exit status of a program.
package struct ProgramResult: Sendable, CustomStringConvertible {
    /// The exit status; 128 plus the signal's number for a program that a signal ended, as in shells.
    package let status: Int32
    package let output: String
    package let errors: String

    package var lines: [String] { output.split(separator: "\n").map(String.init) }

    package var description: String { "status \(status)\n--- output\n\(output)--- errors\n\(errors)" }
}

/// Runs a program to its end.
///
/// - Parameter environment: the whole environment except `PATH`; no variable of the test is inherited.
package func run(
    _ program: String, _ arguments: [String] = [], input: String = "", environment: [String: String] = [:]
) throws -> ProgramResult {
    let folder = TemporaryFolder()
    // Files instead of pipes, so that no program waits for a test that waits for the program.
    let child = try ChildProcess(
        program, arguments, environment: environment,
        input: folder.write(input, to: "in"), output: folder.write("", to: "out"), errors: folder.write("", to: "err"))
    let status = child.wait()
    func contents(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: folder(name))), as: UTF8.self)
    }
    return ProgramResult(status: status, output: try contents("out"), errors: try contents("err"))
}

/// A child process, started by posix_spawn(3).
///
/// Not Foundation's Process, because several of them at once on the threads of a test runner wait forever.
package final class ChildProcess {
    package struct NotStarted: Error, CustomStringConvertible {
        package let program: String
        package let code: Int32
        package var description: String { "\(program) cannot be started: \(SystemError.reason(code))" }
    }

    /// The options of the sanitizers, without which the reports of programs would be lost (`Scripts/test --sanitize`).
    private static let sanitizers = ProcessInfo.processInfo.environment.filter {
        ["ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"].contains($0.key)
    }

    package let processID: pid_t
    private var endStatus: Int32?

    /// - Parameters:
    ///   - program: a path, or a name in the usual folders.
    ///   - environment: the whole environment except `PATH`; of the test's variables only ``sanitizers`` are inherited.
    ///   - input, output, errors: paths of files.
    ///   - terminal: the path of a terminal that replaces the three files and controls the child.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], input: String = "/dev/null",
        output: String = "/dev/null", errors: String = "/dev/null", terminal: String? = nil
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let terminal {
            // The first terminal that a session leader opens controls it (credentials(7)).
            posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
            posix_spawn_file_actions_adddup2(&actions, 0, 1)
            posix_spawn_file_actions_adddup2(&actions, 0, 2)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
            for (descriptor, path) in [(Int32(1), output), (2, errors)] {
                posix_spawn_file_actions_addopen(&actions, descriptor, path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            }
        }
        // An inherited socket of a test would stay open.
        _ = closeFrom(&actions, 3)
        // The threads of a test runner block signals, and a child would inherit the mask.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let flags = Int32(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | (terminal == nil ? 0 : newSession)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let variables = Self.sanitizers.merging(["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]) { $1 }
            .merging(environment) { $1 }
        var argv: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
        var envp: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0)=\($1)") }
        argv.append(nil)
        envp.append(nil)
        defer { (argv + envp).forEach { free($0) } }
        var pid = pid_t()
        let failure = posix_spawnp(&pid, program, &actions, &attributes, argv, envp)
        guard failure == 0 else { throw NotStarted(program: program, code: failure) }
        processID = pid
    }

    deinit {
        guard !hasEnded else { return }
        kill(processID, SIGKILL)
        wait()
    }

    /// Whether the program has ended.
    package var hasEnded: Bool {
        if endStatus != nil { return true }
        var status: Int32 = 0
        guard waitpid(processID, &status, WNOHANG) == processID else { return false }
        endStatus = status
        return true
    }

    /// Waits for the end, and kills the program after ten minutes.
    ///
    /// - Returns: the exit status; 128 plus the signal's number for a program that a signal ended, as in shells.
    @discardableResult package func wait() -> Int32 {
        // So that a program that hangs fails its test and not the whole run.
        var checks = 300_000
        while !hasEnded {
            if checks == 0 { kill(processID, SIGKILL) }
            checks -= 1
            poll(nil, 0, 2)
        }
        let status = endStatus ?? 0
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F
    }

    /// Sends a signal; after SIGSTOP, waits until the program has stopped.
    package func send(_ signal: Int32) {
        guard !hasEnded else { return }
        kill(processID, signal)
        guard signal == SIGSTOP else { return }
        var status: Int32 = 0
        let isStopped = waitpid(processID, &status, WUNTRACED) == processID && status & 0xFF == 0x7F
        if !isStopped { endStatus = status }
    }
}

/// `posix_spawn_file_actions_addclosefrom_np` of glibc since 2.34; not in the module map.
private let closeFrom = unsafeBitCast(
    dlsym(nil, "posix_spawn_file_actions_addclosefrom_np"),
    to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt) -> CInt).self)

/// `POSIX_SPAWN_SETSID` of glibc, which a feature macro hides from Swift.
private let newSession: Int32 = 0x80
