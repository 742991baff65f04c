import Foundation

/// A real `norrisd` in folders of its own, started and stopped by a test.
package final class RunningDaemon {
    package struct NotReady: Error, CustomStringConvertible {
        package let log: String
        package var description: String { "norrisd did not become ready, or did not log what was waited for:\n\(log)" }
    }

    package let folder: TemporaryFolder
    package let notifications: NotifySocket
    private let process: ChildProcess

    package var socket: String { folder("sock") }
    package var processID: Int32 { process.processID }

    /// Starts a daemon and waits until it says that it serves.
    ///
    /// - Parameters:
    ///   - folder: where its state, cache and socket are; give one again to start a successor.
    ///   - arguments: further flags; a later one wins over the folder's.
    ///   - configuration: the text of its configuration file, `config.yaml` in the folder. Tests know of no upstream
    ///     but their own.
    package init(
        in folder: TemporaryFolder = TemporaryFolder(),
        _ arguments: [String] = [],
        configuration: String = "facts: {enabled: false}\n",
        environment: [String: String] = [:]
    ) throws {
        self.folder = folder
        unlink(folder("notify"))
        notifications = NotifySocket(path: folder("notify"))
        let file = try folder.write(configuration, to: "config.yaml")
        let arguments = RunningDaemon.arguments(in: folder) + ["--config", file] + arguments
        let log = try folder.write("", to: "log")
        let process = try ChildProcess(
            Programs.norrisd, arguments,
            environment: ["NOTIFY_SOCKET": notifications.path, "HOME": folder.path].merging(environment) { $1 },
            output: log, errors: log
        )
        self.process = process
        guard notifications.wait(for: "READY=1", while: { !process.hasEnded }) != nil else {
            throw NotReady(log: self.log)
        }
    }

    /// The flags that keep a daemon in a folder.
    package static func arguments(in folder: TemporaryFolder) -> [String] {
        ["--socket", folder("sock"), "--state-dir", folder("state"), "--cache-dir", folder("cache")]
    }

    /// Waits until it has logged a text, two minutes at most.
    package func waitForLog(_ text: String) throws {
        for _ in 0..<12_000 {
            if log.contains(text) { return }
            usleep(10_000)
        }
        throw NotReady(log: log)
    }

    /// All it has logged so far.
    package var log: String {
        (try? String(contentsOfFile: folder("log"), encoding: .utf8)) ?? ""
    }

    /// Ends it by a signal and waits for the end.
    ///
    /// - Returns: its exit status; 128 and the signal's number where the signal killed it.
    @discardableResult
    package func end(_ signal: Int32 = SIGTERM) -> Int32 {
        process.send(signal)
        return process.wait()
    }

    package func send(_ signal: Int32) {
        process.send(signal)
    }

    /// More than a command needs on a busy machine; a `--timeout` that comes later wins.
    private static let patience = ["--timeout", "5m"]

    /// Runs `norrisctl` against it.
    package func ctl(_ arguments: String..., input: String = "") throws -> ProgramResult {
        try run(
            Programs.norrisctl, RunningDaemon.patience + arguments, input: input,
            environment: ["NORRISD_SOCKET": socket, "HOME": folder.path]
        )
    }

    /// Runs `norrisctl` against it as another user, who must be let to the socket; only root can.
    package func ctl(uid: Int, _ arguments: [String]) throws -> ProgramResult {
        try run(
            "setpriv",
            ["--reuid", "\(uid)", "--regid", "\(uid)", "--clear-groups", Programs.norrisctl]
                + RunningDaemon.patience + arguments,
            environment: ["NORRISD_SOCKET": socket]
        )
    }
}
