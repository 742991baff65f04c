import Glibc
import Logging
import NorrisServer
import NorrisStore
import NorrisText
import SystemdIntegration

/// How a daemon ends that cannot start, or go on.
extension Daemon {
    /// Says what stands in the way, and ends the process with the status for it.
    ///
    /// - Parameter isStart: false where a configuration was only looked at: then no daemon has failed, and nobody but
    ///   who asked is told.
    static func fail(_ error: any Error, isStart: Bool) -> Never {
        if isStart {
            reportFailure("\(error)")
        } else {
            say("\(error)")
        }
        exit(exitStatus(of: error))
    }

    /// Says why there is no daemon to whoever started it, the journal and the service manager included.
    ///
    /// - Parameter reasons: one a line.
    private static func reportFailure(_ reasons: String) {
        let lines = reasons.split(separator: "\n").map(String.init)
        if Journal.isConnected {
            // Lines on standard error would all be of priority info, and nobody would look for them there. Where the
            // journal's socket is out of sight, in a chroot for example, only systemd's status tells: libsystemd
            // reports such an entry as sent, and to say all twice would be wrong everywhere else.
            for line in lines {
                JournalSink().write(LogLine(event: failure, metadata: ["error": "\(line)"]))
            }
        } else {
            say(reasons)
        }
        if let first = lines.first { Notifier().status(sanitizedLine(first)) }
    }

    /// A line or several on standard error, for whoever has started the process.
    static func say(_ text: String) {
        let lines = text.split(separator: "\n").map { "norrisd: \(sanitizedLine(String($0)))\n" }.joined()
        _ = Array(lines.utf8).withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    private static var failure: LogEvent {
        LogEvent(
            level: .critical, message: "server.failed", metadata: nil, source: nil,
            file: #fileID, function: #function, line: #line
        )
    }

    private static func exitStatus(of error: any Error) -> CInt {
        switch error {
        case is ConfigurationError, is PathsError: return ExitStatus.configuration
        case let error as StoreError:
            if case .locked = error.reason { return ExitStatus.temporary }
            return ExitStatus.configuration
        case let error as NorrisServer.ListenError:
            return error.reason == .inUse ? ExitStatus.temporary : ExitStatus.cannotCreate
        default: return ExitStatus.cannotCreate
        }
    }
}
