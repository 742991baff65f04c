import Glibc
import NorrisProtocol
import NorrisTerminal

extension Check {
    /// The age past which a file that is replaced every ten minutes is one that nobody keeps any more, in seconds.
    private static let oldAge: Int64 = 3_600

    private static let systemPath = "/run/norrisd/prompt-facts"

    /// The file with the facts that shells show in their prompts: the first one of those places that is there.
    static func prompt(_ system: System, _ commands: DaemonCommands) -> Check {
        let userFolder = system.environment.value(of: "XDG_RUNTIME_DIR")
        let paths = [userFolder.map { "\($0)/norrisd/prompt-facts" }, systemPath].compactMap { $0 }
        for path in paths {
            do {
                return prompt(path, try system.fileStatus(path), system, commands)
            } catch {
                guard error.errno != ENOENT else { continue }
                return .warn("prompt", "\(path) cannot be read: \(error.reason).", fix: look(path))
            }
        }
        return .warn(
            "prompt",
            "Shells have no facts to show: there is no \(paths.joined(separator: " or ")).",
            fix: userFolder == nil && !commands.isForSystem
                ? """
                    Tell the daemon and your shell: \(command: "export XDG_RUNTIME_DIR=/run/user/$(id -u)"), \
                    then: \(commands.replace)
                    """
                : "Have it written: \(commands.replace)"
        )
    }

    private static func prompt(
        _ path: String, _ status: FileStatus, _ system: System, _ commands: DaemonCommands
    ) -> Check {
        guard status.isPlainFile else {
            return .warn("prompt", "\(path) is not a plain file.", fix: "Move it away, then: \(commands.replace)")
        }
        do {
            _ = try system.readFile(path, 0)
        } catch {
            return .warn("prompt", "\(path) cannot be read: \(error.reason).", fix: look(path))
        }
        guard status.bytes > 0 else {
            return .warn("prompt", "\(path) is empty.", fix: mend(path, commands))
        }
        let age = relativeTime(of: min(status.modifiedAt, system.now), at: system.now)
        guard status.modifiedAt.seconds >= system.now.seconds - oldAge else {
            return .warn("prompt", "\(path) was last written \(age).", fix: mend(path, commands))
        }
        return .ok("prompt", "\(path) was written \(age).")
    }

    /// How it comes to be right: the system's daemon does not look after the file of a user.
    private static func mend(_ path: String, _ commands: DaemonCommands) -> Advice {
        guard commands.isForSystem, path != systemPath, let remove = shellCommand(["rm", path]) else {
            return "Have it written: \(commands.replace)"
        }
        return "Nobody keeps it any more: \(command: remove)"
    }

    private static func look(_ path: String) -> Advice? {
        shellCommand(["ls", "-ld", path]).map { "See who may: \(command: $0)" }
    }
}
