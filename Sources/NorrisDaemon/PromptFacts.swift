import Glibc
import Logging
import NorrisProtocol
import NorrisStore
import NorrisSystem
import NorrisThreads
import NorrisText
import Synchronization

/// Replaces the facts in the file that shells read.
///
/// The file stays when the daemon stops, so that shells show facts without a daemon.
final class PromptFactsWriter: Sendable {
    /// The maximum number of lines.
    static let count = 64
    /// The width of a line; longer facts are omitted, not truncated.
    static let columns = 100

    private let file: PromptFile
    private let facts: FactStore
    private let scope: @Sendable () -> FactScope
    private let logger: Logger
    /// The error of the last write.
    private let lastError = Mutex<SystemError?>(nil)

    /// - Parameter scope: the facts that the configuration in force selects.
    init(file: PromptFile, facts: FactStore, scope: @escaping @Sendable () -> FactScope, logger: Logger) {
        (self.file, self.facts, self.scope, self.logger) = (file, facts, scope, logger)
    }

    /// Writes the file. An error is logged once; the next call tries again.
    func write(_: BlockingAccess) {
        var generator = SystemRandomNumberGenerator()
        let lines = PromptFactsWriter.lines(from: facts.catalogue, scope(), using: &generator)
        lastError.withLock { last in
            do throws(SystemError) {
                try file.replace(with: lines)
                if last != nil { logger.notice("prompt-facts.writes-again", metadata: ["path": "\(file.path)"]) }
                last = nil
            } catch {
                let advice =
                    "check the folder's owner and permissions, and the disk's space, or give another --runtime-dir"
                let message = "\(file.path): cannot be written (\(error.reason)); \(advice)"
                if error != last { logger.error("prompt-facts.unwritable", metadata: ["error": "\(message)"]) }
                last = error
            }
        }
    }

    /// Distinct random facts, one a line; all suitable facts if there are few. Facts with several lines and drawings
    /// are omitted.
    static func lines(
        from facts: FactCatalogue, _ scope: FactScope, using generator: inout some RandomNumberGenerator
    ) -> [String] {
        var lines: [String] = []
        // In code points. Few characters are invisible, so a longer text does not fit into a line.
        let filter = FactFilter(source: scope, maxLength: 2 * columns)
        var numbers = facts.numbers(filter).filter { !facts.exceeds(columns: columns, $0) }
        // Shuffles only the numbers that are tried, because a random number costs a system call.
        for index in numbers.indices where lines.count < count {
            numbers.swapAt(index, Int.random(in: index..<numbers.count, using: &generator))
            let line = promptLine(facts.fact(numbers[index]).text, columns: columns)
            if let line, !lines.contains(line) { lines.append(line) }
        }
        return lines
    }
}

/// The file `prompt-facts`, which the shells of all users read.
struct PromptFile: Sendable {
    /// Created if missing; its parent belongs to the login or the service manager.
    let folder: String

    var path: String { Paths.join(folder, "prompt-facts") }

    /// Replaces all lines at once: a reader sees either the old or the new lines.
    func replace(with lines: [String]) throws(SystemError) {
        if mkdir(folder, 0o755) == 0 {
            // Independent of the umask.
            chmod(folder, 0o755)
        } else if errno != EEXIST {
            throw SystemError("mkdir")
        }
        // Daemons may share the folder. Removes the file of a killed daemon with this process id.
        let temporary = Paths.join(folder, ".prompt-facts.\(getpid())")
        unlink(temporary)
        do throws(SystemError) {
            try write(Array(lines.map { $0 + "\n" }.joined().utf8), to: temporary)
            try renameFile(temporary, to: path)
        } catch {
            unlink(temporary)
            throw error
        }
    }

    private func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
        // O_EXCL does not follow a link (open(2)).
        let descriptor = try openFile(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
        defer { close(descriptor) }
        // Independent of the umask.
        guard fchmod(descriptor, 0o644) == 0 else { throw SystemError("fchmod") }
        try writeAll(bytes, to: descriptor)
    }
}
