import Foundation
import Glibc
import NorrisSystem

/// A folder of a test's own below the system's temporary one, gone with the value.
///
/// The path is short, for a Unix socket's address holds 107 bytes.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() {
        var template = Array((NSTemporaryDirectory() + "/norris.XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            fatalError("No temporary folder can be made: \(SystemError.reason())")
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of something in the folder.
    package func callAsFunction(_ name: String) -> String { path + "/" + name }

    /// Writes a file into the folder and gives its path.
    package func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: self(name)))
        return self(name)
    }
}

extension TemporaryFolder {
    /// Writes a shell script into the folder, for anybody to run, and gives its path.
    ///
    /// Another process writes the file that will be run: a child that another test starts at the same moment would
    /// inherit a descriptor of ours, and while one is open for writing the kernel runs no such file (ETXTBSY in
    /// execve(2)).
    package func writeProgram(_ script: String, to name: String) throws -> String {
        let result = try run(
            "sh", ["-c", #"cat >"$0" && chmod 755 "$0""#, self(name)], input: "#!/bin/sh\n\(script)\n")
        guard result.status == 0 else { throw ProgramNotWritten(result: result) }
        return self(name)
    }

    private struct ProgramNotWritten: Error { let result: ProgramResult }
}

/// Runs the body with the file permissions of somebody who is not root, on this thread only.
///
/// Whoever runs the tests as root would otherwise be let through everywhere. setfsuid(2) takes root's rights over files
/// from one thread; the body must stay on it.
package func asNobody<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard geteuid() == 0 else { return try body() }
    // Of glibc since 2.0; not in the module map.
    let setfsuid = unsafeBitCast(dlsym(nil, "setfsuid"), to: (@convention(c) (uid_t) -> CInt).self)
    _ = setfsuid(65_534)
    defer { _ = setfsuid(0) }
    return try body()
}
