import NorrisTestSupport

/// A program in the place of norrisd that gives the same reply to everything, or none at all.
final class ScriptedDaemon {
    private let folder = TemporaryFolder()
    private let process: PseudoTerminal

    var socket: String { folder("sock") }

    /// - Parameter result: the result of every call, as JSON; nil where it never answers.
    init(result: String?) throws {
        let script = """
            import socket, sys
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(sys.argv[1])
            listener.listen(64)
            print("listening", flush=True)
            connections = []
            while True:
                connection, _ = listener.accept()
                connections.append(connection)
                if len(sys.argv) > 2 and connection.recv(65536):
                    reply = '{"jsonrpc":"2.0","id":1,"result":' + sys.argv[2] + '}\\n'
                    try:
                        connection.sendall(reply.encode())
                    except OSError:
                        pass  # It has not waited for as long as this took.
            """
        process = try PseudoTerminal("python3", ["-c", script, folder("sock")] + (result.map { [$0] } ?? []))
        process.wait(for: "listening")
    }
}
