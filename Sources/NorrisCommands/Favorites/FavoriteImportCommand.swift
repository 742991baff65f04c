import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl favorite import`: keeps what was exported elsewhere.
struct FavoriteImportCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "import",
        of: "favorite",
        abstract: "Keep what norrisctl favorite export has printed.",
        usage: "[<file> | -]",
        discussion: """
            All lines are checked before the first is sent, and what you keep already stays as it is.
            At most 10,000 lines and 64 MiB. It takes 10 minutes at most, unless --timeout says otherwise.

            Examples:
              norrisctl favorite import favourites.ndjson
              zcat favourites.ndjson.gz | norrisctl favorite import
            """
    )

    /// In bytes: 10,000 facts or posts of a usual size are a few of these MiB.
    private static let longestFile = 64 << 20

    @Argument(help: ArgumentHelp("The file; - is standard input. (default: -)", valueName: "file"))
    var file: String?

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        let session = session.forManyCalls
        let lines = try FavoriteLines(try read(session), of: name)
        return try FavoriteUpload(session: session, name: name).report(lines)
    }

    /// nil for standard input.
    private var path: String? { file == "-" ? nil : file }

    /// What the input is called in messages.
    private var name: String { path?.quotedForMessage ?? "Standard input" }

    private func read(_ session: Session) throws(Failure) -> [UInt8] {
        let bytes: [UInt8]
        if let path {
            do {
                bytes = try session.system.readFile(path, Self.longestFile)
            } catch {
                throw Failure(.inputOutput, "\(name) cannot be read: \(error.reason).")
            }
        } else {
            if session.system.isInputTerminal {
                session.tell("norrisctl: reading from the terminal, one item a line; Ctrl-D ends, Ctrl-C leaves.")
            }
            guard let input = session.system.readInput(Self.longestFile) else {
                throw Failure(.inputOutput, "Standard input cannot be read.")
            }
            bytes = input
        }
        guard bytes.count <= Self.longestFile else {
            throw Failure(.usage, "\(name) is larger than 64 MiB.", hint: "Import it in parts, cut between lines.")
        }
        return bytes
    }
}
