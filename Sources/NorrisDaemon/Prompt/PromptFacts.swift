import Logging
import NorrisProtocol
import NorrisStore
import NorrisText
import Synchronization

/// Which facts shells show in their prompts.
enum PromptFacts {
    /// How many there are at most.
    static let count = 64
    /// What a line takes at most; longer facts are left out and not cut.
    static let columns = 100

    /// Of longer texts, in code points, not enough are invisible for the rest to fit.
    private static let maxLength = 2 * columns

    /// How many facts are looked at. A collection in which fewer than one in 250 fits is not worth a longer start.
    private static let tries = 16_384

    /// Facts at random, one a line; all that fit where they are few.
    static func lines(from facts: FactStore, using generator: inout some RandomNumberGenerator) -> [String] {
        lines(of: facts.shuffled(maxLength: maxLength, using: &generator).prefix(tries).lazy.map(\.text))
    }

    /// The first texts that fit, none twice. Texts of several lines are joined where that fits.
    static func lines(of texts: some Sequence<String>) -> [String] {
        var lines: [String] = []
        for text in texts {
            guard let line = promptLine(text, columns: columns), !lines.contains(line) else { continue }
            lines.append(line)
            if lines.count == count { break }
        }
        return lines
    }
}

/// Gives the shells' prompts other facts.
///
/// The file stays when the daemon stops: it is what shells show while there is none.
final class PromptFactsWriter: Sendable {
    private let file: PromptFile
    private let facts: FactStore
    private let logger: Logger
    /// Why the file could not be written the last time.
    private let trouble = Mutex<PromptFileError?>(nil)

    init(file: PromptFile, facts: FactStore, logger: Logger) {
        self.file = file
        self.facts = facts
        self.logger = logger
    }

    /// Writes the file; where it cannot be written that is said once, and tried again the next time.
    func write() {
        var generator = SystemRandomNumberGenerator()
        let lines = PromptFacts.lines(from: facts, using: &generator)
        do throws(PromptFileError) {
            try file.replace(with: lines)
            guard note(nil) != nil else { return }
            logger.notice("prompt-facts.writes-again", metadata: ["path": "\(file.path)"])
        } catch {
            guard note(error) != error else { return }
            logger.error("prompt-facts.unwritable", metadata: ["error": "\(error)"])
        }
    }

    /// - Returns: what there was before.
    private func note(_ error: PromptFileError?) -> PromptFileError? {
        trouble.withLock { trouble in
            defer { trouble = error }
            return trouble
        }
    }
}
