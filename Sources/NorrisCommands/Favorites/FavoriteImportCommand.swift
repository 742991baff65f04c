import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl favorite import`: keeps what was exported elsewhere.
struct FavoriteImportCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "import", of: "favorite", abstract: "Keep what norrisctl favorite export has printed.", usage: "[<file> | -]",
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

    @Argument(help: ArgumentHelp("The file; - is standard input. (default: -)", valueName: "file")) var file: String?

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
        var bytes: [UInt8] = []
        if let path {
            do {
                bytes = try session.system.readFile(path, Self.longestFile)
            } catch {
                throw Failure(.inputOutput, "\(name) cannot be read: \(error.reason).")
            }
        } else {
            if session.system.isInputTerminal {
                session.writeError("norrisctl: reading from the terminal, one item a line; Ctrl-D ends, Ctrl-C leaves.")
            }
            bytes = try session.readInput(Self.longestFile)
        }
        guard bytes.count <= Self.longestFile else {
            throw Failure(.usage, "\(name) is larger than 64 MiB.", hint: "Import it in parts, cut between lines.")
        }
        return bytes
    }
}

/// Sends favourites to the daemon, as many at a time as fit into a request.
struct FavoriteUpload {
    let session: Session
    /// What the input is called in messages.
    let name: String

    /// What a request takes besides its items and the commas between them, in bytes.
    static let envelopeLength =
        Session.line(FavoriteImport.name, FavoriteImport.Parameters(items: [])).count

    func report(_ input: FavoriteLines) throws(Failure) -> Report {
        var total = FavoriteImport.Result(added: 0, known: 0)
        // The lines are newest first, and what comes later counts as newer where the time is the same.
        for chunk in Self.chunks(input.lines).reversed() {
            do throws(Failure) {
                let parameters = FavoriteImport.Parameters(items: chunk.map(\.favorite))
                let reply = try session.call(FavoriteImport.self, parameters)
                total.added += reply.value.added
                total.known += reply.value.known
            } catch {
                throw error.at(chunk, of: name, after: total)
            }
        }
        var report = session.report(total) {
            $0.line("\(groupedDigits(total.added)) added, \(groupedDigits(total.known)) known already")
        }
        if input.cutCount > 0 {
            report.note("\(countText(input.cutCount, "item")) too large for a request went without content.")
        }
        return report
    }

    /// Runs of lines that fit into a request each; no line alone is longer than that.
    static func chunks(_ lines: [FavoriteLines.Line]) -> [ArraySlice<FavoriteLines.Line>] {
        var chunks: [ArraySlice<FavoriteLines.Line>] = []
        var start = 0
        var length = envelopeLength
        for (index, line) in lines.enumerated() {
            let isFull = length + line.length > LineSplitter.maximumRequest
                || index - start == FavoriteImport.maximumItems
            if isFull, index > start {
                chunks.append(lines[start..<index])
                (start, length) = (index, envelopeLength)
            }
            // With the comma before the next.
            length += line.length + 1
        }
        chunks.append(lines[start...])
        return chunks
    }
}

extension Failure {
    /// Says which lines it happened at, and what is in already; to import the file again does no harm.
    fileprivate func at(
        _ chunk: ArraySlice<FavoriteLines.Line>, of name: String, after total: FavoriteImport.Result
    ) -> Failure {
        var failure = self
        if let first = chunk.first?.number, let last = chunk.last?.number {
            let lines = first == last ? "line \(first)" : "lines \(first) to \(last)"
            failure.steps.append("It happened at \(name), \(lines).")
        }
        let count = total.added + total.known
        if count > 0 {
            failure.steps.append("The \(countText(count, "item")) after that went in; the same may be imported again.")
        } else if response != nil {
            failure.steps.append("Nothing was imported.")
        }
        return failure
    }
}
