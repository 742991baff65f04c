import NorrisProtocol
import NorrisSystem
import NorrisTerminal

/// The commands that maintain the daemon behind a socket. None of them ends a process by its name, and none starts a
/// daemon without the options it is known to have.
struct DaemonCommands {
    private let socket: String
    /// `--socket` of this run, which its commands repeat.
    private let option: String?
    private let manager: Manager
    /// Whether the path of the socket alone tells who starts the daemon.
    private let isGuess: Bool

    /// Who starts the daemon.
    private enum Manager {
        case unit(DaemonProcess.Unit)
        /// A daemon that runs, and that somebody has started.
        case process(DaemonProcess)
        case unknown
    }

    /// - Parameter process: the daemon's, where one runs; without it, the path of the socket tells who starts it.
    init(socket: String, option: String? = nil, process: DaemonProcess? = nil) {
        (self.socket, self.option, isGuess) = (socket, option, process == nil)
        if let process {
            manager = process.unit.map { .unit($0) } ?? .process(process)
        } else if socket == SocketPath.system {
            manager = .unit(.system)
        } else {
            manager = Self.isOfUser(socket) ? .unit(.user) : .unknown
        }
    }

    /// Whether a user's own daemon listens there by default.
    private static func isOfUser(_ socket: String) -> Bool {
        socket.hasPrefix("/run/user/") && socket.hasSuffix("/norrisd.sock")
    }

    private var unit: DaemonProcess.Unit? { if case .unit(let unit) = manager { unit } else { nil } }

    /// Whether it is the one of the whole machine, whose folders systemd makes.
    var isForSystem: Bool { unit == .system }

    /// How to start it where it has ended.
    var restart: Advice {
        switch manager {
        case .unit(.system): "\(command: "systemctl restart norrisd.socket norrisd")"
        case .unit(.user) where isGuess:
            """
            \(command: "systemctl --user restart norrisd"), or, where you start it yourself, start it again with the \
            options it had
            """
        case .unit(let unit): "\(command: "\(unit.systemctl) restart \(unit.name)")"
        case .process, .unknown: "\(command: "norrisd --socket \(shellQuoted(socket))"), with the other options it had"
        }
    }

    /// How to start it anew where it runs, such as one of another version.
    var replace: Advice { restart(ending: "kill") }

    /// The same where it hangs, so that SIGTERM may not end it.
    var kill: Advice { restart(ending: "kill -KILL") }

    private func restart(ending end: String) -> Advice {
        switch manager {
        case .unit: restart
        case .process(let process):
            "\(command: "\(end) \(process.id)"), then start it again with the options it had"
        case .unknown: "end its process, and start it again with the options it had"
        }
    }

    /// A command line of norrisctl that reaches this daemon.
    func norrisctl(_ words: String...) -> String {
        let words = ["norrisctl"] + words
        return shellCommand(words + optionWords(("--socket", option))) ?? words.joined(separator: " ")
    }

    /// How to give it a key for Giphy.
    var gifKey: Advice {
        // install(1) copies what is typed, so that the key is in no history and no list of processes.
        func paste(_ path: String) -> Advice {
            "\(command: "install -D -m 600 /dev/stdin \(path)") (paste it, Return, Ctrl-D)"
        }
        let key = "Get a key at https://developers.giphy.com, then"
        guard isForSystem else {
            return """
                \(key): \(paste("~/.config/norrisd/giphy-api-key")), name that file as gifs.api_key_file: \
                \(command: norrisctl("config", "edit")), then: \(command: norrisctl("reload"))
                """
        }
        return """
            \(key) as root: \(paste("/etc/credstore/giphy-api-key")), then: \(command: "systemctl restart norrisd")
            """
    }

    /// What shows how full the disks are that it writes to.
    var disk: String {
        switch unit {
        case .system?: "df -h /var/lib /var/cache"
        case .user?: "df -h ~/.local/state ~/.cache"
        default: "df -h"
        }
    }

    /// A sentence that says where the daemon's log is.
    var log: Advice {
        guard let unit else { return "Read what norrisd has written to its standard error." }
        return "Read its log: \(command: "journalctl \(unit.isUsers ? "--user " : "")-u \(unit.name) -n 20")"
    }
}

/// The process of a daemon, as proc(5) shows it.
struct DaemonProcess {
    /// A systemd unit that starts a daemon.
    struct Unit: Equatable {
        let name: String
        let isUsers: Bool

        static let system = Unit(name: "norrisd", isUsers: false)
        static let user = Unit(name: "norrisd", isUsers: true)

        var systemctl: String { isUsers ? "systemctl --user" : "systemctl" }
    }

    let id: Int
    /// nil if no unit started the process.
    let unit: Unit?

    /// Finds the daemon behind a socket: the process that listens, or, if the service manager listens, the process that
    /// the daemon reported. Returns nil if no process is known to be a daemon.
    ///
    /// - Parameter reported: the process id that the daemon reported, in the daemon's namespace.
    init?(socket: String, reported: Int?, system: System) {
        func name(_ id: Int) -> String? {
            let bytes = try? system.readFile("/proc/\(id)/comm", 64)
            return bytes.map { String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self) }
        }
        let listener = system.listener(socket)
        if let id = [listener, reported].compactMap({ $0 }).first(where: { name($0) == "norrisd" }) {
            (self.id, unit) = (id, Self.unit(of: id, system))
            return
        }
        guard let listener else { return nil }
        id = listener
        if listener == 1 {
            unit = .system
        } else if let name = name(listener) {
            guard name == "systemd" else { return nil }
            unit = .user
        } else {
            unit = Self.unit(of: listener, system)
        }
    }

    /// The unit whose control group contains a process (cgroups(7)). A unit with another name, such as a terminal's, did
    /// not start the daemon.
    private static func unit(of id: Int, _ system: System) -> Unit? {
        guard let bytes = try? system.readFile("/proc/\(id)/cgroup", 65_536) else { return nil }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            guard let name = line.split(separator: "/").last, name.hasSuffix(".service"), name.contains("norrisd")
            else { continue }
            return Unit(name: shellQuoted(String(name.dropLast(8))), isUsers: line.contains("/user@"))
        }
        return nil
    }
}
