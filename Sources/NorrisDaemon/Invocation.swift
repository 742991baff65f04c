public import ArgumentParser
public import Logging
import NorrisProtocol

/// The flags of `norrisd`, and `norrisd --help`.
struct Invocation: ParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "norrisd",
        abstract: "Caches Chuck Norris facts, GIFs and your feeds, and serves them over a Unix socket.",
        discussion: """
            norrisd never forks and logs to standard error, or to the journal under systemd. Without flags it \
            listens on the socket that systemd passes, on $NORRISD_SOCKET, $XDG_RUNTIME_DIR/norrisd.sock or \
            /run/norrisd.sock, and keeps its files where systemd or the XDG base directory specification say. Its \
            client is norrisctl.

            Signals: SIGTERM and SIGINT stop it after every request received is answered; SIGHUP reads the \
            configuration again.

            Exit status: 0 stopped, 64 wrong usage, 73 the socket cannot be made, 75 another norrisd runs already, \
            78 the configuration or a database is not fit for use.

            Examples:
              norrisd --check-config --config new.yaml
              norrisd --print-config
              norrisd --socket t/s --state-dir t --cache-dir t --runtime-dir t
            """
    )

    @Option(help: ArgumentHelp("Read this configuration file.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("Listen on this Unix socket.", valueName: "path"))
    var socket: String?

    @Option(help: ArgumentHelp("Store favorites, read marks and other state in this folder.", valueName: "folder"))
    var stateDir: String?

    @Option(help: ArgumentHelp("Store the cache in this folder; it may be deleted at any time.", valueName: "folder"))
    var cacheDir: String?

    @Option(help: ArgumentHelp("Write prompt-facts, which shells read, into this folder.", valueName: "folder"))
    var runtimeDir: String?

    @Option(help: ArgumentHelp("Log from this level on, whatever the configuration says.", valueName: "level"))
    var logLevel: Logger.Level?

    @Flag(help: "Check the configuration and exit.")
    var checkConfig = false

    @Flag(help: "Print the effective configuration and exit.")
    var printConfig = false

    @Flag(help: "Print the version and exit.")
    var version = false
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
