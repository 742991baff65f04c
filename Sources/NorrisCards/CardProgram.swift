import Glibc
import NorrisArguments
import NorrisProtocol
import NorrisSystem
import NorrisText

/// `norris-card`: reads a fact as wire JSON from standard input and writes a PNG to standard output.
package enum CardProgram {
    /// Runs the command line and ends the process.
    package static func run() -> Never {
        // A closed pipe is reported by write(2), and is no error.
        let arguments = ProcessStart.prepare("norris-card", seesWriteErrors: true)
        keepOnlyFontVariables()
        do throws(CardError) {
            try write(output(CardRequest(arguments: arguments)))
        } catch {
            fail(error)
        }
        exit(0)
    }

    /// Reports an error and ends the process.
    static func fail(_ error: CardError) -> Never {
        if let message = error.message { report(message) }
        exit(error.status)
    }

    private static func report(_ message: String) {
        // If this fails, the message cannot be reported.
        try? writeAll(Array("norris-card: \(message)\n".utf8), to: STDERR_FILENO)
    }

    private static func output(_ request: CardRequest) throws(CardError) -> [UInt8] {
        switch request {
        case .help: return Array(CardRequest.helpPage.utf8)
        case .version: return Array("norris-card \(NorrisVersion.current)\n".utf8)
        case .card(let options):
            let card = try Card(fact: readFact(), options)
            if options.isText { return Array((card.alternativeText + "\n").utf8) }
            if let warning = card.warning { report(warning) }
            return try card.png()
        }
    }

    /// Removes all variables except those for fonts, because a locale or a user's settings would change the letters.
    private static func keepOnlyFontVariables() {
        let names = [
            "FONTCONFIG_FILE", "FONTCONFIG_PATH", "FONTCONFIG_SYSROOT", "HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME",
        ]
        let kept = names.map { name in (name, getenv(name).map { String(cString: $0) }) }
        clearenv()
        for case (let name, let value?) in kept { setenv(name, value, 1) }
        // A user's settings, such as the antialiasing of edges, are for the user's screen. No file exists below this
        // path.
        setenv("XDG_CONFIG_HOME", "/dev/null", 1)
    }
}

/// The command line of `norris-card`.
enum CardRequest: Equatable {
    case help
    case version
    /// A picture, or its alternative text.
    case card(CardOptions)

    /// - Parameter arguments: without the program's name.
    init(arguments words: [String]) throws(CardError) {
        var options = CardOptions()
        var arguments = CommandArguments(words)
        do {
            try arguments.parse { options.declare(&$0) }
        } catch {
            throw .usage("\(sanitizedLine(error.message)) See 'norris-card --help'.")
        }
        if arguments.wantsHelp {
            self = .help
        } else if arguments.wantsVersion {
            self = .version
        } else {
            try options.check()
            self = .card(options)
        }
    }

    fileprivate static var helpPage: String {
        var options = CardOptions()
        let help = CommandHelp(
            "Draws a fact as a picture.", usage: "[options] < fact.json > card.png",
            """
            Reads the fact as JSON from standard input, as norrisd's protocol has it, and writes a PNG to standard
            output. norrisctl card is made for people.
            """)
        return HelpPage("norris-card", help, CommandArguments.descriptions { options.declare(&$0) }).text
    }
}

/// The fact in standard input.
private func readFact() throws(CardError) -> Fact {
    let bytes: [UInt8]
    do {
        bytes = try readAll(STDIN_FILENO)
    } catch {
        throw CardError(status: 74, message: "Standard input cannot be read: \(error.reason).")
    }
    do {
        return try Fact(parsing: bytes)
    } catch {
        throw .noFact("\(error)")
    }
}

/// Writes all bytes to standard output. A pipe whose reader has closed it ends the program without an error.
private func write(_ bytes: [UInt8]) throws(CardError) {
    do {
        try writeAll(bytes, to: STDOUT_FILENO)
    } catch {
        if error.isClosedPipe { throw CardError(status: 0, message: nil) }
        throw CardError(status: 74, message: "Standard output cannot be written: \(error.reason).")
    }
}
