import ArgumentParser
import CEpoll
import Glibc
import NorrisPrefetch
import NorrisProtocol

/// The program `norrisd`, from its arguments to its exit status.
package enum Daemon {
    /// The exit statuses of sysexits.h that the daemon uses.
    enum ExitStatus {
        static let cannotCreate: CInt = 73
        static let temporary: CInt = 75
        static let configuration: CInt = 78
    }

    /// On the main thread until the services take over: no job may go to Swift's pool (see ``ThreadExecutor``).
    @MainActor
    package static func main() async {
        let invocation = parsedInvocation()
        if invocation.version {
            print("norrisd \(NorrisVersion.current)")
            return
        }
        let isStart = !invocation.checkConfig && !invocation.printConfig
        // Each further arena keeps what its threads once held (mallopt(3)): four long lists at a time peaked at 195 MiB, with
        // two arenas at 175.
        mallopt(M_ARENA_MAX, 2)
        // Whatever the daemon makes is its user's own, unless it says otherwise.
        umask(0o077)
        // Until the reload service listens for it, a hang-up would end the process; what it asks for is being done.
        signal(SIGHUP, SIG_IGN)
        let environment = currentEnvironment()
        do {
            let paths = try Paths(
                flags: .init(
                    config: invocation.config,
                    cacheDirectory: invocation.cacheDir,
                    stateDirectory: invocation.stateDir,
                    runtimeDirectory: invocation.runtimeDir
                ),
                environment: environment,
                accountHome: ProcessFolders.accountHome
            )
            let loader = ConfigurationLoader(
                home: paths.home, currentDirectory: ProcessFolders.current, looksAround: invocation.checkConfig
            )
            let loaded = try loader.load(paths.configurationFile)
            if !isStart {
                return report(loaded, printsConfiguration: invocation.printConfig)
            }
            let plan = StartPlan(
                paths: paths,
                socketPath: SocketPath.listenPath(flag: invocation.socket, environment: Environment(environment)),
                loader: loader,
                loaded: loaded,
                levelFlag: invocation.logLevel,
                trustRoots: environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
            )
            try await withTaskExecutorPreference(ThreadExecutor.services) { try await serve(plan) }
        } catch {
            fail(error, isStart: isStart)
        }
    }

    /// Ends the process where the arguments are wrong, or ask for help.
    private static func parsedInvocation() -> Invocation {
        do {
            return try InvocationCommand.parse().invocation
        } catch {
            let code = InvocationCommand.exitCode(for: error)
            if code.isSuccess { InvocationCommand.exit(withError: error) }
            // The arguments stand in the message as they were typed.
            say(InvocationCommand.message(for: error) + "\nnorrisd --help shows what it takes.")
            exit(code.rawValue)
        }
    }

    private static func report(_ loaded: ConfigurationLoader.Loaded, printsConfiguration: Bool) {
        for warning in loaded.warnings {
            say("warning: \(warning)")
        }
        print(printsConfiguration ? loaded.configuration.yaml : "ok", terminator: printsConfiguration ? "" : "\n")
    }

    private static func currentEnvironment() -> [String: String] {
        var variables: [String: String] = [:]
        var pointer = environ
        while let entry = pointer.pointee {
            let parts = String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            pointer += 1
        }
        return variables
    }
}
