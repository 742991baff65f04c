import Foundation

/// The built programs under test: those beside the test bundle, or in `$NORRIS_PROGRAMS`.
package enum Programs {
    /// Built only with the headers that it needs (`NORRIS_CARDS=1`).
    package static let norrisCard = folder + "/norris-card"
    package static let norrisctl = folder + "/norrisctl"
    package static let norrisd = folder + "/norrisd"

    private static var folder: String {
        if let folder = ProcessInfo.processInfo.environment["NORRIS_PROGRAMS"] { return folder }
        let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        return bundle.deletingLastPathComponent().path
    }
}

/// What a program said and how it ended.
package struct ProgramResult: Sendable, CustomStringConvertible {
    /// The exit status; 128 and the signal's number for one that a signal ended, as shells have it.
    package let status: Int32
    package let output: String
    package let errors: String

    package var lines: [String] {
        output.split(separator: "\n").map(String.init)
    }

    package var description: String {
        "status \(status)\n--- output\n\(output)--- errors\n\(errors)"
    }
}

/// Runs a program to its end.
///
/// - Parameter environment: all of it but `PATH`; nothing of the test's own is passed on.
package func run(
    _ program: String,
    _ arguments: [String] = [],
    input: String = "",
    environment: [String: String] = [:]
) throws -> ProgramResult {
    let folder = TemporaryFolder()
    // Files, not pipes: no program can wait for a test that waits for it.
    let child = try ChildProcess(
        program, arguments, environment: environment,
        input: folder.write(input, to: "in"), output: folder.write("", to: "out"), errors: folder.write("", to: "err")
    )
    let status = child.wait()
    func contents(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: folder(name))), as: UTF8.self)
    }
    return ProgramResult(
        status: status,
        output: try contents("out"),
        errors: try contents("err")
    )
}
