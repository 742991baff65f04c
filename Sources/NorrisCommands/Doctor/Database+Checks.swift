import NorrisProtocol
import NorrisTerminal

extension ServerStatus.Database {
    /// Below this there is soon no room for what is fetched, nor for the copy that is kept before a migration.
    private static let scarceBytes = 64 * 1024 * 1024

    /// Whether they can be written, and for how long; an older daemon does not know the second.
    func checks(_ commands: DaemonCommands) -> [Check] {
        [databases(commands)] + [disk(commands)].compactMap { $0 }
    }

    private func databases(_ commands: DaemonCommands) -> Check {
        guard isReadOnly else {
            let sizes = "cache \(byteSizeText(cacheBytes)), state \(byteSizeText(stateBytes))"
            return .ok("databases", "They can be written: \(sizes).")
        }
        let failure = Failure(
            .inputOutput,
            "They cannot be written, so nothing new is kept.",
            hint: "Free space or repair the disk: \(command: commands.disk), then: \(commands.replace)"
        )
        return .fail("databases", failure)
    }

    private func disk(_ commands: DaemonCommands) -> Check? {
        guard let freeBytes else { return nil }
        guard freeBytes > 0 else {
            let hint: Advice = "Free some; what is full: \(command: commands.disk)"
            return .fail("disk", Failure(.inputOutput, "No space is left for the databases.", hint: hint))
        }
        let message = "\(byteSizeText(freeBytes)) are free for the databases."
        return freeBytes < Self.scarceBytes
            ? .warn("disk", message, fix: "Free some more; what is full: \(command: commands.disk)")
            : .ok("disk", message)
    }
}
