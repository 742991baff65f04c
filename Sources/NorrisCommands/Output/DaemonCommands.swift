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
    fileprivate static func isOfUser(_ socket: String) -> Bool {
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
            """
            \(command: "\(end) \(process.id)"), then start it again\(process.command(socket: socket).map {
                " as it was: \(command: $0)" } ?? " with the options it had")
            """
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
    /// A unit of systemd that starts a daemon.
    struct Unit: Equatable {
        let name: String
        let isUsers: Bool

        static let system = Unit(name: "norrisd", isUsers: false)
        static let user = Unit(name: "norrisd", isUsers: true)

        var systemctl: String { isUsers ? "systemctl --user" : "systemctl" }
    }

    let id: Int
    /// nil where the system does not tell.
    private let arguments: [String]?
    /// nil where none has started it.
    private(set) var unit: Unit?

    /// Looks for the daemon that listens on a socket: the process that made it, or, where the service manager did, the
    /// one that the daemon has named. nil where neither can be told to be a daemon.
    ///
    /// - Parameter reported: by the daemon, in its own namespace.
    init?(socket: String, reported: Int?, system: System) {
        func arguments(_ id: Int) -> [String]? {
            guard let bytes = try? system.readFile("/proc/\(id)/cmdline", 65_536), !bytes.isEmpty else { return nil }
            return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast()
                .map { String(decoding: $0, as: UTF8.self) }
        }
        func name(_ arguments: [String]) -> Substring? { arguments.first?.split(separator: "/").last }
        let listener = system.listener(socket)
        for id in [listener, reported].compactMap({ $0 }) {
            guard let arguments = arguments(id), name(arguments) == "norrisd" else { continue }
            (self.id, self.arguments) = (id, arguments)
            unit = Self.unit(of: id, system)
            return
        }
        guard let listener else { return nil }
        let words = arguments(listener)
        (id, self.arguments) = (listener, nil)
        if listener == 1 {
            unit = .system
        } else if let words {
            guard name(words) == "systemd", words.contains("--user") else { return nil }
            unit = .user
        } else {
            unit = Self.unit(of: listener, system)
        }
    }

    /// The unit by whose control group a process belongs to it (cgroups(7)). One of another name, such as that of a
    /// terminal, is not the daemon's.
    private static func unit(of id: Int, _ system: System) -> Unit? {
        guard let bytes = try? system.readFile("/proc/\(id)/cgroup", 65_536) else { return nil }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            guard let name = line.split(separator: "/").last, name.hasSuffix(".service"), name.contains("norrisd")
            else { continue }
            return Unit(name: shellQuoted(String(name.dropLast(8))), isUsers: line.contains("/user@"))
        }
        return nil
    }

    /// The command line that starts it again; nil where that is not known, or cannot be shown.
    fileprivate func command(socket: String) -> String? {
        guard let arguments else { return nil }
        let namesSocket = arguments.contains { $0 == "--socket" || $0.hasPrefix("--socket=") }
        let isStandard = socket == SocketPath.system || DaemonCommands.isOfUser(socket)
        return shellCommand(arguments + (namesSocket || isStandard ? [] : ["--socket", socket]))
    }
}
