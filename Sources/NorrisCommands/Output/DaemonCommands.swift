import NorrisProtocol
import NorrisTerminal

/// The commands that maintain the daemon behind a socket.
struct DaemonCommands {
    private let socket: String
    private let manager: Manager

    /// Who starts the daemon, by the path of its socket.
    private enum Manager {
        case system, user, nobody
    }

    init(socket: String) {
        self.socket = socket
        if socket == SocketPath.system {
            manager = .system
        } else {
            manager = socket.hasPrefix("/run/user/") && socket.hasSuffix("/norrisd.sock") ? .user : .nobody
        }
    }

    /// Whether it is the one of the whole machine, whose folders systemd makes.
    var isForSystem: Bool { manager == .system }

    var restart: Advice {
        switch manager {
        case .system: "\(command: "systemctl restart norrisd.socket norrisd")"
        case .user: "\(command: "systemctl --user restart norrisd"), or just: \(command: "norrisd")"
        case .nobody: "\(command: start)"
        }
    }

    /// The same where one is still there, such as one of another version.
    var replace: Advice { restart(after: "pkill -x norrisd; sleep 2") }

    /// The same where one is still there and hangs, so that SIGTERM may not end it.
    var kill: Advice { restart(after: "pkill -KILL -x norrisd") }

    private func restart(after end: String) -> Advice {
        switch manager {
        case .system: restart
        case .user:
            """
            \(command: "systemctl --user restart norrisd"), or where you run it yourself: \
            \(command: "\(end); norrisd")
            """
        case .nobody: "\(command: "\(end); \(start)")"
        }
    }

    private var start: String { "norrisd --socket \(shellQuoted(socket))" }

    /// How to give it a key for Giphy.
    var gifKey: Advice {
        // install(1) copies what is typed, so that the key is in no history and no list of processes.
        func paste(_ path: String) -> Advice {
            "\(command: "install -D -m 600 /dev/stdin \(path)") (paste it, Return, Ctrl-D)"
        }
        let key = "Get a key at https://developers.giphy.com, then"
        guard manager == .system else {
            return """
                \(key): \(paste("~/.config/norrisd/giphy-api-key")), name that file as gifs.api_key_file in \
                ~/.config/norrisd/config.yaml, then: \(command: "norrisctl reload")
                """
        }
        return """
            \(key) as root: \(paste("/etc/credstore/giphy-api-key")), then: \(command: "systemctl restart norrisd")
            """
    }

    /// What shows how full the disks are that it writes to.
    var disk: String {
        switch manager {
        case .system: "df -h /var/lib /var/cache"
        case .user: "df -h ~/.local/state ~/.cache"
        case .nobody: "df -h"
        }
    }

    /// A sentence that says where the daemon's log is.
    var log: Advice {
        switch manager {
        case .system: "Read its log: \(command: "journalctl -u norrisd -n 20")"
        case .user: "Read its log: \(command: "journalctl --user -u norrisd -n 20")"
        case .nobody: "Read what it has written to its standard error."
        }
    }
}
