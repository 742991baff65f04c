import Glibc
import NorrisProtocol

/// `norris-card`: reads a fact as wire JSON from standard input and writes a PNG to standard output.
package enum CardProgram {
    /// Runs the command line and ends the process.
    package static func run() -> Never {
        // A reader that goes away is met at write(2), and is no error; nor has a limit for files to end the process.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        keepFontSettingsAlone()
        do throws(CardFailure) {
            let output = try output(CardRequest(arguments: Array(CommandLine.arguments.dropFirst())))
            try write(output, to: STDOUT_FILENO)
        } catch {
            if let message = error.message {
                // Nobody is left to be told where this fails.
                try? write(Array("norris-card: \(message)\n".utf8), to: STDERR_FILENO)
            }
            exit(error.status)
        }
        exit(0)
    }

    private static func output(_ request: CardRequest) throws(CardFailure) -> [UInt8] {
        switch request {
        case .help: return Array(help.utf8)
        case .version: return Array("norris-card \(NorrisVersion.current)\n".utf8)
        case .card(let size, let showsTags, let isText):
            // Said before anything is drawn: a file that is opened later could take the place of a closed descriptor.
            guard fcntl(STDOUT_FILENO, F_GETFD) >= 0 else { throw .output(errno: errno) }
            let fact = try readFact()
            do throws(CardError) {
                let card = try Card(fact: fact, size: size, showsTags: showsTags)
                return isText ? Array((card.alternativeText + "\n").utf8) : try card.png()
            } catch {
                throw .noCard(error)
            }
        }
    }

    /// Removes all variables but those that say where fonts are: a locale or a user's settings would change letters.
    private static func keepFontSettingsAlone() {
        let names = [
            "FONTCONFIG_FILE", "FONTCONFIG_PATH", "FONTCONFIG_SYSROOT", "HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME",
        ]
        let kept = names.map { name in (name, getenv(name).map { String(cString: $0) }) }
        clearenv()
        for (name, value) in kept {
            if let value {
                setenv(name, value, 1)
            }
        }
        // A user's own settings, such as the colour of edges, are for that user's screen. No file is below this one.
        setenv("XDG_CONFIG_HOME", "/dev/null", 1)
    }

    private static let help = """
        Draws a fact as a picture: reads it as JSON from standard input, as norrisd's protocol has it, and writes a PNG
        to standard output. norrisctl card is made for people.

        usage: norris-card [--size N] [--no-tags] [--alt] < fact.json > card.png

          --size N    the width in pixels, 256 to 4096; 1080 if not given. The card is as high, or higher
                      where the text is long.
          --no-tags   leave the categories out
          --alt       write a text that stands for the picture instead
          --version   write the version
          --help      write this text

        """
}
