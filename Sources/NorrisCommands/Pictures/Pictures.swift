import NorrisProtocol
import NorrisTerminal
import NorrisText

extension Session {
    /// The most pictures that one command draws.
    private static var drawnPictures: Int { 4 }

    /// The largest picture to fetch, in bytes.
    private static var pictureLimit: Int { 16 << 20 }

    /// Refuses to draw without a terminal, before any call. `otherwise` is the advice that prints the addresses.
    func requireTerminalToDraw(otherwise: Advice) throws(Failure) {
        guard layout.width == nil else { return }
        throw Failure(.usage, "--show needs a terminal, and no --plain.", hint: otherwise)
    }

    /// Whether `--show` draws an image of a post.
    func canDrawImages(of post: Post) -> Bool {
        post.images.contains { Self.isFetched($0.url) } && ["chafa", "curl"].allSatisfy(system.hasProgram)
    }

    /// Whether the picture at an address is fetched: only over HTTPS.
    private static func isFetched(_ address: String) -> Bool {
        isWebAddress(address) && address.prefix(8).lowercased() == "https://"
    }

    /// Draws pictures on the terminal below the output of the report. Adds notes about failed pictures to the report.
    ///
    /// The pictures share the rows that the output leaves, so that the output stays on the screen.
    func draw(_ addresses: [String], below report: inout Report) throws(Failure) {
        let linesAbove = report.output.count { $0 == UInt8(ascii: "\n") }
        guard try write(report.output) else { return }
        report.output = []
        let fetched = addresses.filter(Self.isFetched)
        let drawn = fetched.prefix(Self.drawnPictures)
        // A smaller picture would not be recognizable.
        let rows = max((screenRows - linesAbove) / max(drawn.count, 1), screenRows / 3)
        for address in drawn {
            do throws(Failure) { try draw(picture: try fetchPicture(address), rows: rows) } catch {
                report.add(error)
                // The cause prevents the other pictures, too.
                if error.status == .unavailable { return }
            }
        }
        if fetched.count > Self.drawnPictures {
            report.note("Only the first \(value: Self.drawnPictures) of \(value: fetched.count) images are drawn.")
        }
        let others = addresses.count - fetched.count
        guard others > 0 else { return }
        let message = "\(countText(others, "image")) cannot be drawn here: --show fetches https addresses only."
        if fetched.isEmpty { report.status = .nothing }
        report.note("\(value: message)")
        report.hint("See \(others == 1 ? "it" : "them") in a browser: --open")
    }

    /// The rows of the terminal without the rows of the prompt. An animation must not scroll the terminal.
    var screenRows: Int { max((system.terminal.rows ?? 24) - 2, 1) }

    /// Draws a picture with chafa in the best format of the terminal. An animation runs for some seconds.
    ///
    /// chafa writes to the terminal directly, but generates its output from pixels, so no byte of the file reaches the
    /// terminal. chafa writes UTF-8 in every locale, so a terminal without UTF-8 gets only ASCII symbols.
    ///
    /// - Parameter rows: the maximum height; nil for the whole screen.
    func draw(picture: [UInt8], rows: Int? = nil) throws(Failure) {
        let columns = min(layout.width ?? 80, system.terminal.columns ?? 80)
        var arguments = ["--size", "\(columns)x\(max(rows ?? screenRows, 1))"]
        if !layout.usesEscapes {
            arguments += ["--format", "symbols", "--colors", "none", "--animate", "off"]
        } else if mayMove(picture) {
            // Without --duration, chafa never ends an animation. With it, chafa also waits after a still picture. chafa
            // itself needs another 500 ms.
            let seconds = pictureTime(.milliseconds(5_500)) - .milliseconds(500)
            arguments += ["--duration", "\(max(seconds.components.seconds, 0))"]
        }
        if !isUTF8Locale(system.environment) {
            arguments += ["--format", "symbols", "--symbols", "ascii", "--fill", "none"]
        }
        let request = SubprocessRequest(
            program: "chafa", arguments: arguments + ["-"], input: .bytes(picture),
            output: .terminal(reset: layout.usesEscapes ? Self.terminalReset : []), timeout: pictureTime(.seconds(30)))
        switch system.run(request) {
        case .ended(status: 0, _): return
        case .ended(let status, _):
            throw Failure(.nothing, "chafa cannot draw the image: it exited with status \(status).")
        case .missing: throw .missing("chafa", packages: "chafa")
        case let outcome: throw unfinished("chafa", outcome)
        }
    }

    /// Fetches a picture with curl. With curl, the user's proxy and certificates apply.
    private func fetchPicture(_ address: String) throws(Failure) -> [UInt8] {
        system.waiting.show("fetching the image")
        defer { system.waiting.hide() }
        let request = SubprocessRequest(
            program: "curl",
            arguments: [
                // The first option, so that no .curlrc changes the others.
                "--disable", "--silent", "--fail", "--location", "--max-redirs", "3",
                "--proto", "=https", "--proto-redir", "=https",
                // Without --globoff, brackets and braces expand to several addresses.
                "--globoff", "--max-time", "20", "--max-filesize", "\(Self.pictureLimit)", "--url", address,
            ],
            // curl does not know every size in advance, and may hang outside its own time limit.
            output: .collected(limit: Self.pictureLimit), timeout: pictureTime(.seconds(25)))
        switch system.run(request) {
        case .ended(status: 0, let bytes): return bytes
        case .tooLarge, .ended(status: 63, _):
            throw Failure(.nothing, "The image at \(address) is larger than \(byteSizeText(Self.pictureLimit)).")
        case .ended(let status, _):
            throw Failure(.temporary, "The image at \(address) cannot be fetched: \(Self.reason(curl: status)).")
        case .missing: throw .missing("curl", packages: "chafa curl")
        case let outcome: throw unfinished("curl", outcome)
        }
    }

    /// Returns the reason for an exit status (curl(1), "Exit codes").
    private static func reason(curl status: Int32) -> String {
        switch status {
        case 1: "it redirects to an address that is not https"
        case 5, 6: "the host was not found"
        case 7: "the host does not answer"
        case 22: "the host answers with an error"
        case 28: "it takes too long"
        case 35, 51, 53, 54, 58...60, 77, 83, 90, 91: "the certificate of the host is not valid"
        case 47: "too many redirects"
        default: "curl ended with status \(status)"
        }
    }

    /// Returns the time limit to fetch or draw a picture: the program's own limit, or the rest of the user's timeout.
    private func pictureTime(_ own: Duration) -> Duration {
        settings.timeout == nil ? own : max(min(own, timeLeft), .zero)
    }

    /// Adds a hint if the user's timeout ended the program.
    private func unfinished(_ program: String, _ outcome: SubprocessOutcome) -> Failure {
        var failure = Failure.unfinished(program, outcome)
        if outcome == .timedOut, settings.timeout != nil { failure.hint = "Allow more time: --timeout 1m" }
        return failure
    }
}

/// Whether a picture may be animated: a GIF, or a WebP with the animation flag.
///
/// Source: "WebP Container Specification", Extended File Format.
private func mayMove(_ picture: [UInt8]) -> Bool {
    if picture.starts(with: "GIF8".utf8) { return true }
    guard picture.count > 20, picture.starts(with: "RIFF".utf8) else { return false }
    return picture[8..<16].elementsEqual("WEBPVP8X".utf8) && picture[20] & 0b10 != 0
}
