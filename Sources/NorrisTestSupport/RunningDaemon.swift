import Foundation
import Synchronization

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
        in folder: TemporaryFolder = TemporaryFolder(), _ arguments: [String] = [],
        configuration: String = "facts: {enabled: false}\n", environment: [String: String] = [:]
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
            output: log, errors: log)
        self.process = process
        guard notifications.wait(for: "READY=1", while: { !process.hasEnded }) != nil else {
            throw NotReady(log: self.log)
        }
    }

    /// Before its folder is removed.
    deinit { end(SIGKILL) }

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
    package var log: String { (try? String(contentsOfFile: folder("log"), encoding: .utf8)) ?? "" }

    /// Ends it by a signal and waits for the end.
    ///
    /// - Returns: its exit status; 128 and the signal's number where the signal killed it.
    @discardableResult package func end(_ signal: Int32 = SIGTERM) -> Int32 {
        process.send(signal)
        return process.wait()
    }

    package func send(_ signal: Int32) { process.send(signal) }

    /// More than a command needs on a busy machine; a `--timeout` that comes later wins.
    private static let timeout = ["--timeout", "5m"]

    /// Runs `norrisctl` against it.
    package func ctl(_ arguments: String..., input: String = "") throws -> ProgramResult {
        try run(
            Programs.norrisctl, RunningDaemon.timeout + arguments, input: input,
            environment: ["NORRISD_SOCKET": socket, "HOME": folder.path])
    }

    /// Runs `norrisctl` against it as another user, who must be let to the socket; only root can.
    package func ctl(uid: Int, _ arguments: [String]) throws -> ProgramResult {
        try run(
            "setpriv",
            ["--reuid", "\(uid)", "--regid", "\(uid)", "--clear-groups", Programs.norrisctl] + RunningDaemon.timeout
                + arguments, environment: ["NORRISD_SOCKET": socket])
    }
}

/// The service manager's end of `NOTIFY_SOCKET` (sd_notify(3)): reads what a daemon reports.
package final class NotifySocket: Sendable {
    /// As `NOTIFY_SOCKET` has it.
    package let path: String
    private let descriptor: Int32
    private let received = Mutex<[String]>([])

    /// - Parameter path: where to listen, short enough for a socket; `@` and a name for one without a file (unix(7)).
    package init(path: String) {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let bound = withUnixAddress(path) { bind(descriptor, $0, $1) }
        precondition(bound == 0, "The notification socket cannot be bound")
    }

    deinit { close(descriptor) }

    /// The next message that has arrived; nil when there is none. A sent datagram is there at once.
    package func receive() -> String? { receive(within: 0) }

    /// Waits for a message that holds a line, while the daemon lives and ten minutes at most.
    ///
    /// - Returns: the whole message; nil where none came.
    package func wait(for line: String, while isAlive: () -> Bool = { true }) -> String? {
        for _ in 0..<6000 {
            if let message = receive(within: 100) {
                if message.split(separator: "\n").contains(Substring(line)) { return message }
            } else if !isAlive() {
                return nil
            }
        }
        return nil
    }

    /// The lines of all messages so far that were received or waited for.
    package var lines: [Substring] { received.withLock { $0 }.flatMap { $0.split(separator: "\n") } }

    private func receive(within milliseconds: Int32) -> String? {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        guard count >= 0 else { return nil }
        let message = String(decoding: bytes[..<count], as: UTF8.self)
        received.withLock { $0.append(message) }
        return message
    }
}
