import Foundation
import Synchronization

/// A real `norrisd` in a temporary folder.
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

    /// Starts a daemon and waits until it serves.
    ///
    /// - Parameters:
    ///   - folder: contains state, cache and socket; pass the same folder to start a successor.
    ///   - arguments: further flags, which override the folder's.
    ///   - configuration: the text of `config.yaml` in the folder. Tests use no upstream except their own.
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

    /// Before the folder is removed.
    deinit { end(SIGKILL) }

    /// The flags for a daemon in a folder.
    package static func arguments(in folder: TemporaryFolder) -> [String] {
        ["--socket", folder("sock"), "--state-dir", folder("state"), "--cache-dir", folder("cache")]
    }

    /// Waits at most two minutes for a text in the log.
    package func waitForLog(_ text: String) throws { try waitForLog { $0.contains(text) } }

    package func waitForLog(_ isComplete: (String) -> Bool) throws {
        for _ in 0..<12_000 {
            if isComplete(log) { return }
            usleep(10_000)
        }
        throw NotReady(log: log)
    }

    /// The log so far.
    package var log: String { (try? String(contentsOfFile: folder("log"), encoding: .utf8)) ?? "" }

    /// Ends the daemon with a signal and waits for the end.
    ///
    /// - Returns: the exit status; 128 plus the signal's number if the signal killed the daemon.
    @discardableResult package func end(_ signal: Int32 = SIGTERM) -> Int32 {
        process.send(signal)
        return process.wait()
    }

    package func send(_ signal: Int32) { process.send(signal) }

    /// Longer than any command on a busy machine; a later `--timeout` overrides it.
    private static let timeout = ["--timeout", "5m"]

    /// Runs `norrisctl` with this daemon.
    package func ctl(_ arguments: String..., input: String = "") throws -> ProgramResult {
        try run(
            Programs.norrisctl, RunningDaemon.timeout + arguments, input: input,
            environment: ["NORRISD_SOCKET": socket, "HOME": folder.path])
    }

    /// Runs `norrisctl` as another user, who needs access to the socket; requires root.
    package func ctl(uid: Int, _ arguments: [String]) throws -> ProgramResult {
        try run(
            "setpriv",
            ["--reuid", "\(uid)", "--regid", "\(uid)", "--clear-groups", Programs.norrisctl] + RunningDaemon.timeout
                + arguments, environment: ["NORRISD_SOCKET": socket])
    }
}

/// The service manager's side of `NOTIFY_SOCKET` (sd_notify(3)).
package final class NotifySocket: Sendable {
    /// The value of `NOTIFY_SOCKET`.
    package let path: String
    private let descriptor: Int32
    private let received = Mutex<[String]>([])

    /// - Parameter path: short enough for a socket; `@` and a name for an abstract socket (unix(7)).
    package init(path: String) {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let bound = withUnixAddress(path) { bind(descriptor, $0, $1) }
        precondition(bound == 0, "The notification socket cannot be bound")
    }

    deinit { close(descriptor) }

    /// The next received message; nil if there is none. A sent datagram arrives at once.
    package func receive() -> String? { receive(within: 0) }

    /// Waits for a message with a line, at most ten minutes and while the daemon runs.
    ///
    /// - Returns: the whole message; nil without such a message.
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

    /// The lines of all messages so far.
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
