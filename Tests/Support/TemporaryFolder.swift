import Foundation
import Glibc
import NorrisSystem

/// A temporary folder for a test. Deinitialization deletes the folder.
///
/// The path is short, because the address of a Unix socket has at most 107 bytes.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() {
        var template = Array((NSTemporaryDirectory() + "norris.XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            fatalError("No temporary folder can be made: \(SystemError.reason())")
        }
        // For asNobody(_:): mkdtemp(3) creates the folder with mode 0700.
        chmod(template, 0o755)
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in the folder.
    package func callAsFunction(_ name: String) -> String { path + "/" + name }

    /// Writes a file into the folder and returns its path.
    package func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: self(name)))
        return self(name)
    }
}

extension TemporaryFolder {
    /// Writes an executable file, a shell script unless its first line says otherwise, and returns its path.
    ///
    /// Another process writes the file, because a child that another test starts at the same moment would inherit the
    /// descriptor, and the kernel does not run a file that is open for writing (ETXTBSY in execve(2)).
    package func writeProgram(_ text: String, to name: String, firstLine: String = "#!/bin/sh") throws -> String {
        let result = try run(
            "sh", ["-c", #"cat >"$0" && chmod 755 "$0""#, self(name)], input: "\(firstLine)\n\(text)\n")
        guard result.status == 0 else { throw ProgramNotWritten(result: result) }
        return self(name)
    }

    private struct ProgramNotWritten: Error { let result: ProgramResult }
}

/// Runs the body with the file permissions of an unprivileged user, on this thread only.
///
/// Needed because root may access all files. setfsuid(2) changes one thread, so the body must stay on the thread.
package func asNobody<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard geteuid() == 0 else { return try body() }
    // In glibc since 2.0, but not in the module map.
    let setfsuid = unsafeBitCast(dlsym(nil, "setfsuid"), to: (@convention(c) (uid_t) -> CInt).self)
    _ = setfsuid(65_534)
    defer { _ = setfsuid(0) }
    return try body()
}
