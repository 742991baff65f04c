import NorrisProtocol
import NorrisTerminal

/// The commands that look after the daemon behind a socket.
struct DaemonCommands {
    private let socket: String
    private let keeper: Keeper

    /// Who starts the daemon, which the place of its socket tells.
    private enum Keeper {
        case system, user, nobody
    }

    init(socket: String) {
        self.socket = socket
        if socket == SocketPath.system {
            keeper = .system
        } else if socket.hasPrefix("/run/user/"), socket.hasSuffix("/norrisd.sock") {
            keeper = .user
        } else {
            keeper = .nobody
        }
    }

    var restart: String {
        switch keeper {
        case .system: "systemctl restart norrisd.socket norrisd"
        case .user: "systemctl --user restart norrisd, or just: norrisd"
        case .nobody: "norrisd --socket \(shellQuoted(socket))"
        }
    }

    /// How to give it a key for Giphy.
    var gifKey: String {
        let key = "Put a key from https://developers.giphy.com"
        switch keeper {
        case .system: return "\(key) into /etc/credstore/giphy-api-key, then: systemctl restart norrisd"
        case .user, .nobody: return "\(key) into the file that gifs.api_key_file names, then: norrisctl reload"
        }
    }

    /// A sentence that tells where the daemon's log is.
    var log: String {
        switch keeper {
        case .system: "Read its log: journalctl -u norrisd -n 20"
        case .user: "Read its log: journalctl --user -u norrisd -n 20"
        case .nobody: "Read what it has written to its standard error."
        }
    }
}
