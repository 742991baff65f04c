import Foundation
import NorrisTestSupport

/// A snippet of `Scripts/integrations` where a user has it: with the programs that it needs, and a home of its own.
struct Snippet {
    let path: String
    let folder = TemporaryFolder()

    /// - Parameters:
    ///   - name: the file's path in `Scripts/integrations`.
    ///   - script: what `norrisctl` runs in place of the program; else it has time enough for a busy machine.
    init(_ name: String, norrisctl script: String? = nil) throws {
        let root = URL(filePath: #filePath).appending(path: "../../../..").standardized
        path = root.appending(path: "Scripts/integrations").appending(path: name).path
        let script = script ?? #"exec '\#(Programs.norrisctl)' "$@" --timeout 20s"#
        _ = try folder.writeProgram(script, to: "norrisctl")
    }

    /// - Parameter daemon: nil while it is away.
    func environment(_ daemon: RunningDaemon? = nil, games: String = "/usr/games") -> [String: String] {
        [
            "HOME": folder.path,
            "LC_ALL": "C.UTF-8",
            "NORRISD_SOCKET": daemon?.socket ?? folder("nowhere"),
            "PATH": "\(folder.path):\(games):/usr/sbin:/usr/bin:/sbin:/bin",
        ]
    }

    /// Reads the snippet in a shell and runs a line there, as somebody types it.
    func run(
        in shell: String, _ line: String, daemon: RunningDaemon? = nil, games: String = "/usr/games"
    ) throws -> ProgramResult {
        try NorrisTestSupport.run(
            shell, ["-c", ". '\(path)'\n\(line)"], environment: environment(daemon, games: games)
        )
    }

    /// What shells would run or expand, in several ways.
    var hostileText: String {
        "$(touch \(folder("made"))) `touch \(folder("made"))` ; touch \(folder("made")) #"
    }

    var hostileTextHasRun: Bool {
        FileManager.default.fileExists(atPath: folder("made"))
    }
}
