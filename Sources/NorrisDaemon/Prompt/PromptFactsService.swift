import Logging
import NorrisPrefetch
import NorrisStore
import ServiceLifecycle
import Synchronization

/// Gives the shells' prompts other facts every ten minutes.
///
/// The file stays when the daemon stops: it is what shells show while there is none.
final class PromptFactsService: Service {
    private static let interval = Duration.seconds(600)

    private let file: PromptFile
    private let facts: FactStore
    private let clock: any WallClock
    private let logger: Logger
    /// Why the file could not be written the last time.
    private let trouble = Mutex<PromptFileError?>(nil)

    init(file: PromptFile, facts: FactStore, clock: any WallClock, logger: Logger) {
        self.file = file
        self.facts = facts
        self.clock = clock
        self.logger = logger
    }

    func run() async throws {
        while (try? await cancelWhenGracefulShutdown { try await self.clock.sleep(for: Self.interval) }) != nil {
            await withTaskExecutorPreference(Prefetcher.background) { write() }
        }
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
