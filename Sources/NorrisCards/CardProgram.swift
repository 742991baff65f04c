import Glibc
import NorrisProtocol
import NorrisText

/// `norris-card`: reads a fact as wire JSON from standard input and writes a PNG to standard output.
package enum CardProgram {
    /// Runs the command line and ends the process.
    package static func run() -> Never {
        // A reader that closes the pipe is noticed at write(2), and is no error.
        signal(SIGPIPE, SIG_IGN)
        keepOnlyFontVariables()
        do throws(CardError) {
            try write(output(CardRequest(arguments: Array(CommandLine.arguments.dropFirst()))), to: STDOUT_FILENO)
        } catch {
            if let message = error.message {
                // Where this fails there is nobody left to tell.
                try? write(Array("norris-card: \(message)\n".utf8), to: STDERR_FILENO)
            }
            exit(error.status)
        }
        exit(0)
    }

    private static func output(_ request: CardRequest) throws(CardError) -> [UInt8] {
        switch request {
        case .help: return Array(help.utf8)
        case .version: return Array("norris-card \(NorrisVersion.current)\n".utf8)
        case .card(let size, let style, let showsTags, let isText):
            let card = try Card(fact: readFact(), size: size, style: style, showsTags: showsTags)
            return isText ? Array((card.alternativeText + "\n").utf8) : try card.png()
        }
    }

    /// Removes all variables but those that say where fonts are: a locale or a user's settings would change letters.
    private static func keepOnlyFontVariables() {
        let names = [
            "FONTCONFIG_FILE", "FONTCONFIG_PATH", "FONTCONFIG_SYSROOT", "HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME",
        ]
        let kept = names.map { name in (name, getenv(name).map { String(cString: $0) }) }
        clearenv()
        for case (let name, let value?) in kept { setenv(name, value, 1) }
        // A user's own settings, such as the color of edges, are for that user's screen. No file is below this one.
        setenv("XDG_CONFIG_HOME", "/dev/null", 1)
    }

    private static let help = """
        Draws a fact as a picture: reads it as JSON from standard input, as norrisd's protocol has it, and writes a PNG
        to standard output. norrisctl card is made for people.

        usage: norris-card [--size N] [--style STYLE] [--headline WORD] [--no-tags] [--alt] < fact.json > card.png

          --size N          the width in pixels, 256 to 4096; 1080 if not given. A scenic card is square and
                            a poster a quarter higher; long texts make both taller.
          --style STYLE     scenic (the text on a landscape) or poster (a framed landscape, a headline and the
                            text); scenic if not given
          --headline WORD   what a poster says in large letters, at most 24 characters; if not given it follows
                            from the category
          --no-tags         leave the categories out; a poster never has them
          --alt             write a text that stands for the picture instead
          --version         write the version
          --help            write this text

        """
}

/// The command line of `norris-card`.
enum CardRequest: Equatable {
    case help
    case version
    /// A picture, or the text that stands for it.
    case card(size: Int, style: CardStyle, showsTags: Bool, isText: Bool)

    /// - Parameter arguments: without the program's name. The last of several equal options counts.
    init(arguments: [String]) throws(CardError) {
        var (size, showsTags, isText, isPoster) = (1080, true, false, false)
        var headline: String?
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            // The value stands behind a `=`, or is the next argument.
            let end = argument.hasPrefix("--") ? argument.firstIndex(of: "=") : nil
            func value() -> String { end.map { String(argument[$0...].dropFirst()) } ?? rest.popFirst() ?? "" }
            switch end.map({ String(argument[...$0]) }) ?? argument {
            case "--alt": isText = true
            case "--no-tags": showsTags = false
            case "--size", "--size=": size = try CardRequest.size(value())
            case "--style", "--style=":
                let style = value()
                guard ["scenic", "poster"].contains(style) else {
                    throw .usage("--style '\(sanitizedLine(style))' is neither scenic nor poster.")
                }
                isPoster = style == "poster"
            case "--headline", "--headline=":
                headline = Headline.checked(value())
                guard headline != nil else {
                    throw .usage("--headline takes 1 to \(Headline.longest) characters that show something.")
                }
            case "--help", "-h":
                self = .help
                return
            case "--version":
                self = .version
                return
            default: throw .usage("'\(sanitizedLine(argument))' is unknown; norris-card --help lists the options.")
            }
        }
        guard isPoster || headline == nil else { throw .usage("--headline is for posters; add --style poster.") }
        let style = isPoster ? CardStyle.poster(headline: headline) : .scenic
        self = .card(size: size, style: style, showsTags: showsTags, isText: isText)
    }

    private static func size(_ text: String) throws(CardError) -> Int {
        guard let size = Int(text), Card.sizes.contains(size) else {
            let (low, high) = (Card.sizes.lowerBound, Card.sizes.upperBound)
            throw .usage("--size '\(sanitizedLine(text))' is no number from \(low) to \(high).")
        }
        return size
    }
}

/// The fact that standard input holds, and nothing else.
private func readFact() throws(CardError) -> Fact {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        if count == 0 { break }
        if count > 0 {
            bytes += buffer[..<count]
        } else if errno != EINTR {
            throw .input(errno: errno)
        }
    }
    do {
        return try Fact(json: JSON.parse(bytes))
    } catch {
        throw .noFact("\(error)")
    }
}

/// Writes all bytes to a descriptor.
private func write(_ bytes: [UInt8], to descriptor: Int32) throws(CardError) {
    var written = 0
    while written < bytes.count {
        let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + written, $0.count - written) }
        if count >= 0 {
            written += count
        } else if errno != EINTR {
            throw .output(errno: errno)
        }
    }
}
