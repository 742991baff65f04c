import CLinux
import Glibc
import Logging
import NorrisArguments
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisSystem
import NorrisThreads
import NorrisText
import SystemdIntegration

/// The program `norrisd`, from its arguments to its exit status.
package enum Daemon {
    /// Runs on the main thread until the services start, because no job may run in Swift's pool (see
    /// ``ThreadExecutor``).
    @MainActor package static func main() async {
        // A reader of standard error that has ended must not end the daemon.
        var arguments = CommandArguments(ProcessStart.prepare("norrisd", seesWriteErrors: true))
        var invocation = Invocation()
        do {
            try arguments.parse { invocation.declare(&$0) }
        } catch {
            say("\(error.message)\nSee 'norrisd --help'.")
            exit(EX_USAGE)
        }
        if arguments.wantsHelp { return print(Invocation.helpPage, terminator: "") }
        if arguments.wantsVersion { return print("norrisd \(NorrisVersion.current)") }
        let isStart = !invocation.checksConfiguration && !invocation.printsConfiguration
        // Each additional arena keeps freed memory of its threads (mallopt(3)): the peak of four long lists was 195
        // MiB, with two arenas 175 MiB.
        mallopt(M_ARENA_MAX, 2)
        // Files of the daemon are private to its user by default.
        umask(0o077)
        // Ignored until the reload service traps the signal, because SIGHUP would end the process and the start reads
        // the configuration anyway.
        signal(SIGHUP, SIG_IGN)
        let environment = Environment.ofProcess
        do {
            let paths = try Paths(
                flags: invocation.paths, environment: environment, accountHome: CurrentProcess.accountHome)
            let loader = ConfigurationLoader(
                home: paths.home, currentDirectory: CurrentProcess.currentDirectory,
                checksSystem: invocation.checksConfiguration)
            let loaded = try loader.load(paths.configurationFile)
            if !isStart {
                for warning in loaded.warnings { say("warning: \(warning)") }
                return print(invocation.printsConfiguration ? loaded.configuration.yaml : "ok\n", terminator: "")
            }
            ProcessStart.raiseFileLimit()
            var shortage: String?
            if !canStartThreads(8) {
                shortage =
                    "no further thread can be started; raise the limit of processes of this user (ulimit -u), or "
                    + "TasksMax= of the service"
            } else if !ProcessStart.canOpenDescriptors(24) {
                shortage = "too few files can be opened; raise their limit (ulimit -n), or LimitNOFILE= of the service"
            }
            if let shortage {
                reportFailure(shortage)
                exit(EX_OSERR)
            }
            try await withTaskExecutorPreference(ThreadExecutor.services) {
                try await serve(invocation, paths, loader, loaded, environment)
            }
        } catch {
            // A faulty configuration in a check is no failure of a daemon, so only the caller is told.
            let faults = (error as? ConfigurationError)?.faults.lines.joined(separator: "\n")
            if isStart { reportFailure("\(error)") } else { say(faults ?? "\(error)") }
            exit(exitStatus(of: error))
        }
    }

    /// Reports the reasons why the daemon ends to the caller, the journal and the service manager.
    ///
    /// - Parameter reasons: one reason a line.
    private static func reportFailure(_ reasons: String) {
        let lines = reasons.split(separator: "\n").map(String.init)
        if Journal.isConnected {
            // Lines on standard error would have the priority info. If the journal's socket cannot be reached, for
            // example in a chroot, only systemd's status shows the reason, because libsystemd reports such an entry as
            // sent. Writing each line twice would be wrong in all other cases.
            for line in lines {
                let event = LogEvent(
                    level: .critical, message: "server.failed", metadata: nil, source: nil, file: #fileID,
                    function: #function, line: #line)
                JournalSink().write(LogLine(event: event, metadata: ["error": "\(line)"]))
            }
        } else {
            say(reasons)
        }
        if let first = lines.first { Notifier().status(sanitizedLine(first)) }
    }

    /// Writes lines to standard error.
    static func say(_ text: String) {
        let lines = text.split(separator: "\n").map { "norrisd: \(sanitizedLine(String($0)))\n" }.joined()
        _ = Array(lines.utf8).withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// A status of sysexits.h.
    private static func exitStatus(of error: any Error) -> CInt {
        switch error {
        case is ConfigurationError: EX_CONFIG
        case let error as StoreError: error.reason.exitStatus ?? EX_CONFIG
        case let error as ExplainedError: error.exitStatus
        default: EX_CANTCREAT
        }
    }
}

/// The options of `norrisd`, and `norrisd --help`.
struct Invocation: Sendable {
    private static let abstract = "Caches Chuck Norris facts, GIFs and your feeds, and serves them over a Unix socket."
    static let help = CommandHelp(
        abstract,
        """
        norrisd never forks and logs to standard error, or to the journal under systemd. Without flags it \
        listens on the socket that systemd passes, on $NORRISD_SOCKET, $XDG_RUNTIME_DIR/norrisd.sock or \
        /run/norrisd.sock, and keeps its files where systemd or the XDG base directory specification say. Its \
        client is norrisctl.

        Signals: SIGTERM and SIGINT stop it; what it has received is answered for up to two seconds. SIGHUP \
        reads the configuration again.

        Exit status: 0 stopped, 64 wrong usage, 71 too few threads or open files, 73 the socket cannot be made, 75 \
        another norrisd runs already, 78 the configuration or a database is not fit for use.

        Examples:
          norrisd --check-config --config new.yaml
          norrisd --print-config
          norrisd --socket t/s --state-dir t --cache-dir t --runtime-dir t
        """)

    private(set) var paths = Paths.Flags()
    private(set) var socket: String?
    private(set) var logLevel: Logger.Level?
    private(set) var checksConfiguration = false, printsConfiguration = false

    mutating func declare(_ arguments: inout CommandArguments) {
        let folder = ValueKind("folder")
        arguments.option(&paths.config, "config", .file, "Read this configuration file.")
        arguments.option(&socket, "socket", .path, "Listen on this Unix socket.")
        arguments.option(
            &paths.stateDirectory, "state-dir", folder, "Store favorites, read marks and other state in this folder.")
        arguments.option(
            &paths.cacheDirectory, "cache-dir", folder, "Store the cache in this folder; it may be deleted at any time."
        )
        arguments.option(
            &paths.runtimeDirectory, "runtime-dir", folder, "Write prompt-facts, which shells read, into this folder.")
        arguments.option(
            "log-level", ValueKind("level"),
            """
            Log from this level on, whatever the configuration says: \(alternatives(Logger.Level.words)).
            """, choices: Logger.Level.words
        ) { assign(&logLevel, Logger.Level(rawValue: $0)) }
        arguments.flag(&checksConfiguration, "check-config", "Check the configuration and exit.")
        arguments.flag(&printsConfiguration, "print-config", "Print the effective configuration and exit.")
        arguments.common()
    }

    static var descriptions: [Description] {
        var invocation = Invocation()
        return CommandArguments.descriptions { invocation.declare(&$0) }
    }

    static var helpPage: String { HelpPage("norrisd", help, descriptions).text }
}
