import NorrisTerminal

extension Session {
    /// The most pictures that are drawn at once.
    static var drawnPictures: Int { 4 }

    /// Refuses to draw where there is no terminal, before anything is asked of the daemon.
    ///
    /// - Parameter otherwise: what gives the addresses of the pictures.
    func requireTerminalToDraw(otherwise: String) throws(Failure) {
        guard layout.width == nil else { return }
        throw Failure(.usage, "--show draws on a terminal, and there is none, or --plain.", hint: Advice(otherwise))
    }

    /// Draws pictures on the terminal, one below the other.
    ///
    /// - Parameter report: what it says so far is written before them; the pictures that cannot be drawn are told
    ///   of in it.
    func draw(_ addresses: [String], below report: inout Report) throws(Failure) {
        guard try write(report.output) else { return }
        report.output = []
        for address in addresses.prefix(Self.drawnPictures) {
            do throws(Failure) {
                try draw(picture: try fetchPicture(address))
            } catch {
                report.add(error)
                // What stopped this one stops the others as well.
                if error.status == .unavailable { return }
            }
        }
        if addresses.count > Self.drawnPictures {
            report.note("Only the first \(Self.drawnPictures) of \(addresses.count) pictures are drawn.")
        }
    }

    /// Draws a picture, or a moving one for some seconds, with chafa, in the best way the terminal has.
    ///
    /// chafa writes to the terminal itself: what it writes it makes from pixels, and no byte of the file is among it.
    /// It writes UTF-8 whatever the locale is, so to a terminal that is not UTF-8 it may write ASCII alone.
    func draw(picture: [UInt8]) throws(Failure) {
        let columns = min(layout.width ?? 80, system.terminal.columns ?? 80)
        // What moves must not scroll the terminal.
        let rows = max((system.terminal.rows ?? 24) - 2, 1)
        var arguments = ["--size", "\(columns)x\(rows)"]
        if !layout.usesEscapes {
            arguments += ["--format", "symbols", "--colors", "none", "--animate", "off"]
        } else if mayMove(picture) {
            // Without it chafa shows what moves for ever; with it what does not move for as long. It needs some time
            // besides.
            let seconds = pictureTime(.milliseconds(5_500)) - .milliseconds(500)
            arguments += ["--duration", "\(max(seconds.components.seconds, 0))"]
        }
        if !isUTF8Locale(system.environment) {
            arguments += ["--format", "symbols", "--symbols", "ascii", "--fill", "none"]
        }
        let outcome = system.run(
            SubprocessRequest(
                program: "chafa", arguments: arguments + ["-"], input: .bytes(picture),
                output: .terminal(reset: layout.usesEscapes ? Self.terminalReset : []),
                timeout: pictureTime(.seconds(30))
            )
        )
        switch outcome {
        case .ended(status: 0, _):
            return
        case .ended(let status, _):
            throw Failure(.nothing, "chafa cannot draw the picture; it ended with status \(status).")
        case .missing:
            throw .missing("chafa", packages: "chafa")
        case let outcome:
            throw unfinished("chafa", outcome)
        }
    }
}
