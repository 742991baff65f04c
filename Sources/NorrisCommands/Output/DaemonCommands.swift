import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisText

/// The commands that maintain the daemon behind a socket. None ends a process by name, or starts a daemon without its
/// known options.
struct DaemonCommands {
    private let socket: String
    private let manager: Manager
    /// Whether the manager is a guess from the path of the socket.
    private let isGuess: Bool

    private enum Manager {
        case unit(DaemonProcess.Unit)
        /// A running daemon that a user has started.
        case process(DaemonProcess)
        case unknown
    }

    /// - Parameter process: The process of a running daemon. Without it, the path of the socket determines the starter.
    init(socket: String, process: DaemonProcess? = nil) {
        (self.socket, isGuess) = (socket, process == nil)
        if let process {
            manager = process.unit.map { .unit($0) } ?? .process(process)
        } else if socket == SocketPath.system {
            manager = .unit(.system)
        } else {
            // A user's own daemon listens there by default.
            let isOfUser = socket.hasPrefix("/run/user/") && socket.hasSuffix("/norrisd.sock")
            manager = isOfUser ? .unit(.user) : .unknown
        }
    }

    private var unit: DaemonProcess.Unit? { if case .unit(let unit) = manager { unit } else { nil } }

    /// Whether the daemon is the system's daemon, whose folders systemd creates.
    var isForSystem: Bool { unit == .system }

    /// The advice that starts a daemon after its end.
    var restart: Advice {
        switch manager {
        case .unit(.system): "\(command: "sudo systemctl restart norrisd.socket norrisd")"
        case .unit(.user) where isGuess:
            """
            \(command: "systemctl --user restart norrisd"), or, if you start it yourself, start it again with the \
            options it had
            """
        case .unit(let unit): "\(command: "\(unit.systemctl) restart \(unit.name)")"
        case .process, .unknown: "\(command: "norrisd --socket \(shellQuoted(socket))"), with the other options it had"
        }
    }

    /// The advice that restarts a running daemon, such as a daemon of another version.
    var replace: Advice { restart(ending: "kill") }

    /// The advice that restarts a hanging daemon, which SIGTERM may not end.
    var kill: Advice { restart(ending: "kill -KILL") }

    private func restart(ending end: String) -> Advice {
        switch manager {
        case .unit: restart
        case .process(let process):
            "\(command: "\(end) \(process.id)"), then start it again with the options it had"
        case .unknown: "end its process, and start it again with the options it had"
        }
    }

    /// The advice that gives the daemon a key for Giphy.
    var gifKey: Advice {
        isForSystem ? "\(Self.gifKey) as root: \(Self.systemGifKey)" : "\(Self.gifKey): \(Self.userGifKey)"
    }

    static let gifKey: Advice = "Get a key at https://developers.giphy.com, then"
    static let systemGifKey: Advice =
        "\(paste("/etc/credstore/giphy-api-key")), then: \(command: "systemctl restart norrisd")"
    static let userGifKey: Advice = """
        \(paste("~/.config/norrisd/giphy-key")), add 'gifs: {api_key_file: ~/.config/norrisd/giphy-key}' to the file \
        of \(command: "norrisctl config path"), then: \(command: "norrisctl reload")
        """

    /// The advice that writes a key into a file. install(1) copies standard input, so the key is in no shell history
    /// and no process list.
    private static func paste(_ path: String) -> Advice {
        "\(command: "install -D -m 600 /dev/stdin \(path)") (paste it, Return, Ctrl-D)"
    }

    /// The command that shows the free space on the daemon's disks.
    var disk: String {
        switch unit {
        case .system?: "df -h /var/lib /var/cache"
        case .user?: "df -h ~/.local/state ~/.cache"
        default: "df -h"
        }
    }

    var log: Advice {
        guard let unit else { return "Read the standard error of norrisd." }
        return "Read its log: \(command: "\(unit.journalctl) -u \(unit.name) -n 20")"
    }
}

/// The process of a daemon, according to proc(5).
struct DaemonProcess {
    struct Unit: Equatable {
        let name: String
        let isUsers: Bool

        static let system = Unit(name: "norrisd", isUsers: false)
        static let user = Unit(name: "norrisd", isUsers: true)

        var systemctl: String { isUsers ? "systemctl --user" : "sudo systemctl" }
        var journalctl: String { isUsers ? "journalctl --user" : "sudo journalctl" }
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
        let listener = system.sockets.listener(at: socket)
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

    /// Returns the unit that contains a process (cgroups(7)). A unit without norrisd in its name, such as a terminal's
    /// unit, is not the daemon's.
    private static func unit(of id: Int, _ system: System) -> Unit? {
        guard let bytes = try? system.readFile("/proc/\(id)/cgroup", 65_536) else { return nil }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            guard let name = line.split(separator: "/").last, name.hasSuffix(".service"), name.hasPart("norrisd")
            else { continue }
            return Unit(name: shellQuoted(String(name.dropLast(8))), isUsers: line.hasPart("/user@"))
        }
        return nil
    }
}
