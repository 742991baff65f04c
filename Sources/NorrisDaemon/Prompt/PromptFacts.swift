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

    /// Facts at random, one a line, none twice; all that fit where they are few. Texts of several lines are joined where
    /// that fits.
    static func lines(
        from facts: FactStore, _ scope: FactScope, using generator: inout some RandomNumberGenerator
    ) -> [String] {
        var lines: [String] = []
        facts.forEachAtRandom(scope, maxLength: maxLength, using: &generator) { fact in
            if let line = promptLine(fact.text, columns: columns), !lines.contains(line) { lines.append(line) }
            return lines.count < count
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
    private let scope: @Sendable () -> FactScope
    private let logger: Logger
    /// Why the file could not be written the last time.
    private let trouble = Mutex<PromptFileError?>(nil)

    /// - Parameter scope: which facts are shown by the configuration of now.
    init(file: PromptFile, facts: FactStore, scope: @escaping @Sendable () -> FactScope, logger: Logger) {
        self.file = file
        self.facts = facts
        self.scope = scope
        self.logger = logger
    }

    /// Writes the file; where it cannot be written that is said once, and tried again the next time.
    func write() {
        var generator = SystemRandomNumberGenerator()
        let lines = PromptFacts.lines(from: facts, scope(), using: &generator)
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
