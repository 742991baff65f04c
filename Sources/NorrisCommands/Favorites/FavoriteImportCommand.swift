import NorrisArguments
import NorrisProtocol
import NorrisSystem
import NorrisTerminal

/// `norrisctl favorite import`: adds what was exported elsewhere.
struct FavoriteImportCommand: SessionCommand {
    static let name = "import"
    static let help = CommandHelp(
        "Add exported favorites.",
        """
        Reads what norrisctl favorite export printed. All lines are checked before anything is added; existing
        favorites stay as they are. At most 10,000 lines and 64 MiB. The time limit is 10 minutes; see --timeout.

        Examples:
          norrisctl favorite import favorites.ndjson
          zcat favorites.ndjson.gz | norrisctl favorite import
        """)

    /// In bytes: 10,000 facts or posts of a usual size are a few of these MiB.
    private static let longestFile = 64 << 20

    private var file: String?

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(.file, "The file; - is standard input. (default: -)", isOptional: true) {
            assign(&file, $0)
        }
    }

    static var statuses: [ExitStatus] { [.done, .usage, .unavailable, .inputOutput, .temporary, .notPermitted] }

    func run(in session: Session) throws(Failure) -> Report {
        try session.checkFormat(for: FavoriteImport.self)
        let session = session.forManyCalls
        let lines = try self.lines(of: try read(session))
        var total = FavoriteImport.Result(added: 0, known: 0)
        // The lines are newest first, and what comes later counts as newer where the time is the same.
        for chunk in Self.chunks(lines).reversed() {
            do throws(Failure) {
                let parameters = FavoriteImport.Parameters(items: chunk.map(\.favorite))
                let reply = try session.call(FavoriteImport.self, parameters).value
                total = FavoriteImport.Result(added: total.added + reply.added, known: total.known + reply.known)
            } catch {
                throw failure(error, at: chunk, after: total)
            }
        }
        var report = session.report(total) {
            $0.line("\(groupedDigits(total.added)) added, \(groupedDigits(total.known)) already there")
        }
        let cutCount = lines.count(where: \.isCut)
        if cutCount > 0 { report.note("\(countText(cutCount, "item")) too large to send: added without content.") }
        return report
    }

    // MARK: Reading

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
                session.writeError("norrisctl: Reading from the terminal, one item a line. Ctrl-D ends it.")
            }
            bytes = try session.readInput(Self.longestFile)
        }
        guard bytes.count <= Self.longestFile else {
            throw Failure(.usage, "\(name) is larger than 64 MiB.", hint: "Split it and import the parts.")
        }
        return bytes
    }

    /// A favorite of the file, from a line that has been checked.
    private struct Line {
        /// From 1.
        let number: Int
        var favorite: Favorite
        /// Whether it was too large for a request and has lost its content.
        var isCut = false
        /// The length of its JSON in a request, in bytes.
        var length: Int
    }

    /// What a request takes besides its items and the commas between them, in bytes.
    private static let envelopeLength = Session.line(FavoriteImport.name, FavoriteImport.Parameters(items: [])).count

    /// Checks all lines; blank ones are passed over.
    ///
    /// - Returns: at least one, in the order of the file.
    private func lines(of bytes: [UInt8]) throws(Failure) -> [Line] {
        var lines: [Line] = []
        var number = 0
        var rest = bytes[...]
        while !rest.isEmpty {
            number += 1
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest = rest[line.endIndex...].dropFirst()
            guard line.contains(where: { !" \t\r".utf8.contains($0) }) else { continue }
            guard lines.count < FavoriteList.maximum else {
                throw Failure(
                    .usage, "\(name) has more than 10,000 items, the limit for favorites.",
                    hint: "Import the newest: head -n 10000")
            }
            lines.append(try self.line(line, number: number))
        }
        if lines.isEmpty {
            throw Failure(.usage, "\(name) is empty.", hint: "Make one: norrisctl favorite export > favorites.ndjson")
        }
        return lines
    }

    private func line(_ bytes: ArraySlice<UInt8>, number: Int) throws(Failure) -> Line {
        func fault(_ message: String) -> Failure {
            Failure(
                .usage, "\(name), line \(number): \(message)", hint: "Nothing was imported. Fix or remove the line.")
        }
        let json: JSON
        do {
            json = try JSON.parse(bytes)
        } catch {
            throw fault("\(error)")
        }
        var favorite: Favorite
        do {
            favorite = try Favorite(json: json)
        } catch {
            throw fault("\(error)")
        }
        guard Favorite.Kind.all.contains(favorite.kind) else { throw fault("kind must be fact, gif or post.") }
        guard !favorite.id.isEmpty else { throw fault("id must not be empty.") }
        // Of a GIF only id and title are stored.
        favorite.gif = nil
        var line = Line(number: number, favorite: favorite, length: favorite.jsonBytes.count)
        let longest = LineSplitter.maximumRequest - Self.envelopeLength
        if line.length > longest {
            (line.favorite.fact, line.favorite.post, line.isCut) = (nil, nil, true)
            line.length = line.favorite.jsonBytes.count
        }
        guard line.length <= longest else {
            throw fault("id and title are too long for a request of \(LineSplitter.maximumRequest) bytes.")
        }
        return line
    }

    // MARK: Sending

    /// Runs of lines that fit into a request each; no line alone is longer than that.
    private static func chunks(_ lines: [Line]) -> [ArraySlice<Line>] {
        var chunks: [ArraySlice<Line>] = []
        var start = 0
        var length = envelopeLength
        for (index, line) in lines.enumerated() {
            let isFull =
                length + line.length > LineSplitter.maximumRequest || index - start == FavoriteImport.maximumItems
            if isFull, index > start {
                chunks.append(lines[start..<index])
                (start, length) = (index, envelopeLength)
            }
            // With the comma before the next.
            length += line.length + 1
        }
        return chunks + [lines[start...]]
    }

    /// Says which lines it happened at, and what is in already; to import the file again does no harm.
    private func failure(
        _ failure: Failure, at chunk: ArraySlice<Line>, after total: FavoriteImport.Result
    ) -> Failure {
        var failure = failure
        if let first = chunk.first?.number, let last = chunk.last?.number {
            let lines = first == last ? "line \(first)" : "lines \(first) to \(last)"
            failure.steps.append("It happened at \(lines) of \(path?.quotedForMessage ?? "standard input").")
        }
        let count = total.added + total.known
        if count > 0 {
            let imported = "The \(countText(count, "item")) after that were imported."
            failure.steps.append("\(imported) It is safe to import the file again.")
        } else if failure.response != nil {
            failure.steps.append("Nothing was imported.")
        }
        return failure
    }
}
