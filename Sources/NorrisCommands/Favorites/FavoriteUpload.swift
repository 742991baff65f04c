import NorrisProtocol
import NorrisTerminal

/// Sends favourites to the daemon, as many at a time as fit into a request.
struct FavoriteUpload {
    let session: Session
    /// What the input is called in messages.
    let name: String

    /// What a request takes besides its items and the commas between them, in bytes.
    static let envelopeLength = Session.line(
        FavoriteImport.name, FavoriteImport.Parameters(items: [])
    ).count

    func report(_ input: FavoriteLines) throws(Failure) -> Report {
        var total = FavoriteImport.Result(added: 0, known: 0)
        // The lines are newest first, and what comes later counts as newer where the time is the same.
        for chunk in Self.chunks(input.lines).reversed() {
            do throws(Failure) {
                let parameters = FavoriteImport.Parameters(items: chunk.map(\.favorite))
                let reply = try session.call(
                    FavoriteImport.self, parameters
                )
                total.added += reply.value.added
                total.known += reply.value.known
            } catch {
                throw error.at(chunk, of: name, after: total)
            }
        }
        var report: Report
        if session.settings.json {
            report = Report(json: total)
        } else {
            var screen = Screen(layout: session.layout)
            screen.line("\(groupedDigits(total.added)) added, \(groupedDigits(total.known)) known already")
            report = Report(screen)
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
            let place = first == last ? "line \(first)" : "lines \(first) to \(last)"
            failure.steps.append("It happened at \(name), \(place).")
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
