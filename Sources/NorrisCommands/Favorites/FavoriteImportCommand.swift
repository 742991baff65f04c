import NorrisArguments
import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisText

struct FavoriteImportCommand: SessionCommand {
    static let name = "import"
    static let help = CommandHelp(
        "Add exported favorites.",
        """
        Reads what norrisctl favorite export printed. All lines are checked before anything is added; existing
        favorites stay as they are. At most \(groupedDigits(FavoriteList.maximum)) lines and \(mebibytes) MiB. The time
        limit is 10 minutes; see --timeout.

        Examples:
          norrisctl favorite import favorites.ndjson
          zcat favorites.ndjson.gz | norrisctl favorite import
        """)
    /// The largest file.
    private static let mebibytes = 64

    private var file = "-"

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(.file, "The file; - is standard input. (default: -)", isOptional: true) {
            file = $0
            return true
        }
    }

    func run(in session: Session) throws(Failure) -> Report {
        try session.checkFormat(for: FavoriteImport.self)
        let session = session.with(defaultTimeout: .long)
        // As many facts or posts of the usual size are a few MiB.
        let (bytes, name) = try session.readInput(
            file, "from the terminal, one item a line", atMost: Self.mebibytes,
            advice: "Split it and import the parts.")
        let lines = try self.lines(of: bytes, name)
        var total = FavoriteImport.Result(added: 0, known: 0)
        // The lines are newest first. Of items with equal times, the daemon treats the later one as newer.
        for chunk in Self.chunks(lines).reversed() {
            do throws(Failure) {
                let parameters = FavoriteImport.Parameters(items: chunk.map(\.favorite))
                let reply = try session.call(FavoriteImport.self, parameters).value
                total = FavoriteImport.Result(added: total.added + reply.added, known: total.known + reply.known)
            } catch {
                throw failure(error, at: chunk, after: total)
            }
        }
        var report = session.report(Reply(json: EncodedJSON(total), value: total)) {
            $0.line("\(groupedDigits(total.added)) added, \(groupedDigits(total.known)) already there")
        }
        let cutCount = lines.count(where: \.isCut)
        if cutCount > 0 {
            report.note("\(value: countText(cutCount, "item")) too large to send: added without content.")
        }
        return report
    }

    // MARK: Reading

    /// A favorite from a valid line of the file.
    private struct Line {
        /// The line number, from 1.
        let number: Int
        var favorite: Favorite
        /// Whether the content was removed, because the item was too large for a request.
        var isCut = false
        /// The length of its JSON in a request, in bytes.
        var length: Int
    }

    /// The length of a request without its items, in bytes.
    private static let envelopeLength = Session.line(FavoriteImport.name, FavoriteImport.Parameters(items: [])).count

    /// Checks all lines, and returns the lines that are not blank, at least one, in the order of the file.
    private func lines(of bytes: [UInt8], _ name: String) throws(Failure) -> [Line] {
        var lines: [Line] = []
        var number = 0
        var rest = bytes[...]
        while !rest.isEmpty {
            number += 1
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest = rest[line.endIndex...].dropFirst()
            guard line.contains(where: { !" \t\r".utf8.contains($0) }) else { continue }
            guard lines.count < FavoriteList.maximum else {
                let maximum = groupedDigits(FavoriteList.maximum)
                throw Failure(
                    .usage, "\(name) has more than \(maximum) items, the limit for favorites.",
                    hint: "Import the newest: head -n \(value: FavoriteList.maximum)")
            }
            lines.append(try self.line(line, number: number, name))
        }
        if lines.isEmpty {
            throw Failure(.usage, "\(name) is empty.", hint: "Make one: norrisctl favorite export > favorites.ndjson")
        }
        return lines
    }

    private func line(_ bytes: ArraySlice<UInt8>, number: Int, _ name: String) throws(Failure) -> Line {
        func fault(_ message: String) -> Failure {
            Failure(
                .usage, "\(name), line \(number): \(message)", hint: "Nothing was imported. Fix or remove the line.")
        }
        var favorite: Favorite
        do {
            favorite = try Favorite(parsing: bytes)
        } catch {
            throw fault("\(error)")
        }
        guard Favorite.Kind.all.contains(favorite.kind) else { throw fault("kind must be fact, gif or post.") }
        guard !favorite.id.isEmpty else { throw fault("id must not be empty.") }
        // The daemon stores only the id and the title of a GIF.
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

    /// Splits the lines into chunks that fit into a request. Every single line fits.
    private static func chunks(_ lines: [Line]) -> [ArraySlice<Line>] {
        var chunks: [ArraySlice<Line>] = []
        var start = 0
        var length = envelopeLength
        for (index, line) in lines.enumerated() {
            if length + line.length > LineSplitter.maximumRequest, index > start {
                chunks.append(lines[start..<index])
                (start, length) = (index, envelopeLength)
            }
            // Includes the comma before the next item.
            length += line.length + 1
        }
        return chunks + [lines[start...]]
    }

    /// Adds the affected lines and the number of imported items to a failure. A second import of the file is harmless.
    private func failure(
        _ failure: Failure, at chunk: ArraySlice<Line>, after total: FavoriteImport.Result
    ) -> Failure {
        var failure = failure
        if let first = chunk.first?.number, let last = chunk.last?.number {
            let lines = first == last ? "line \(first)" : "lines \(first) to \(last)"
            failure.steps.append(
                "It happened at \(value: lines) of \(value: file == "-" ? "standard input" : file.quotedForMessage).")
        }
        let count = total.added + total.known
        if count > 0 {
            let imported = "The \(countText(count, "item")) after that were imported."
            failure.steps.append("\(value: imported) It is safe to import the file again.")
        } else if failure.response != nil {
            failure.steps.append("Nothing was imported.")
        }
        return failure
    }
}
