import Glibc
import NorrisProtocol
import NorrisTerminal
import NorrisText

struct CardDrawing {
    let fact: Fact
    /// The options of norris-card, such as `--style poster`.
    let arguments: [String]
    /// The largest output of norris-card, in bytes.
    private static let limit = 512 << 20

    func picture(_ session: Session) throws(Failure) -> CardPicture {
        let bytes = try run(arguments, session)
        guard let picture = CardPicture(bytes) else {
            throw Failure(.internalError, "The output of norris-card is not a PNG.", hint: Self.mismatch)
        }
        return picture
    }

    /// Returns the alternative text of the picture on one line.
    func alternativeText(_ session: Session) throws(Failure) -> String {
        let text = sanitizedLine(sanitizedText(bytes: try run(arguments + ["--alt"], session)))
        guard !text.isEmpty else {
            throw Failure(.internalError, "norris-card has no words for the picture.", hint: Self.mismatch)
        }
        return text
    }

    private func run(_ arguments: [String], _ session: Session) throws(Failure) -> [UInt8] {
        session.system.waiting.show("drawing the card")
        defer { session.system.waiting.hide() }
        return try output(
            session.system.runOwn(
                SubprocessRequest(
                    program: "norris-card", arguments: arguments, input: .bytes(fact.jsonBytes),
                    output: .collected(limit: Self.limit),
                    // A large card may take longer than the standard timeout on a small machine.
                    timeout: session.settings.timeout == nil ? .seconds(60) : max(session.timeLeft, .zero))))
    }

    private func output(_ outcome: SubprocessOutcome) throws(Failure) -> [UInt8] {
        switch outcome {
        case .ended(status: 0, let bytes): return bytes
        case .missing: throw .missing("norris-card", packages: "norris-card")
        case .ended(status: 65, _):
            throw Failure(
                .usage,
                "The text cannot be drawn: it has no visible characters, or more lines than fit into a picture.",
                hint: "Take another text, or a shorter one.")
        case .ended(status: 66, _):
            throw Failure(
                .usage, "The text needs more room than this --aspect has.",
                hint: "Leave out --aspect, or take a shorter text.")
        case .ended(status: 69, _):
            throw Failure(
                .unavailable, "There is no font to draw the text with.",
                hint: """
                    \(command: "sudo apt install fonts-inter fonts-noto-core fonts-noto-color-emoji"); \
                    for Chinese, Japanese and Korean: \(command: "sudo apt install fonts-noto-cjk")
                    """)
        case .ended(status: 70, _):
            throw Failure(.internalError, "norris-card could not draw the picture.", hint: Self.shortage)
        case .ended(let status, _) where status > 128:
            throw Failure(.internalError, "norris-card was killed by signal \(status - 128).", hint: Self.shortage)
        case .ended(let status, _):
            throw Failure(.internalError, "norris-card failed with status \(status).", hint: Self.mismatch)
        case .tooLarge: throw Failure(.internalError, "norris-card wrote more than 512 MiB.", hint: Self.mismatch)
        case let outcome:
            var failure = Failure.unfinished("norris-card", outcome)
            if outcome == .timedOut { failure.hint = "Allow more time: --timeout 5m, or draw it smaller: --size 540" }
            throw failure
        }
    }

    /// The most likely reason if norris-card fails or is killed.
    private static var shortage: Advice {
        "Memory or open files may be short; a smaller --size, or a shorter text, needs less."
    }

    /// The most likely reason for an unexpected result of norris-card.
    private static var mismatch: Advice {
        "norrisctl and norris-card must be of one version: \(command: "sudo apt install norrisd norris-card")"
    }
}

/// A picture from norris-card.
struct CardPicture {
    let bytes: [UInt8]
    /// The size in pixels.
    let width: Int
    let height: Int
    /// A sentence about characters that could not be drawn.
    private(set) var warning: String?

    /// Returns nil if the bytes are no PNG.
    ///
    /// Source: PNG specification (third edition), 5.2 "PNG signature", 5.3 "Chunk layout", 11.2.1 "IHDR", the first
    /// chunk, and 11.3.3.4 "iTXt". norris-card writes the warning as the comment, in front of the pixels.
    init?(_ bytes: [UInt8]) {
        let start: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
        guard bytes.count >= 24, bytes.starts(with: start) else { return nil }
        self.bytes = bytes
        width = bytes[16..<20].reduce(0) { $0 << 8 | Int($1) }
        height = bytes[20..<24].reduce(0) { $0 << 8 | Int($1) }
        var rest = bytes[8...]
        while rest.count >= 8, !rest.dropFirst(4).starts(with: "IDAT".utf8) {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            let chunk = rest.dropFirst(4).prefix(length + 4)
            let start = Array("iTXtComment\0\0\0\0\0".utf8)
            if chunk.starts(with: start) { warning = String(decoding: chunk.dropFirst(start.count), as: UTF8.self) }
            rest = rest.dropFirst(length + 12)
        }
    }
}

extension Session {
    /// Whether norris-card, a separate package, is installed.
    var canDrawCards: Bool {
        system.ownFolders.contains { access("\($0)/norris-card", F_OK) == 0 }
    }
}
