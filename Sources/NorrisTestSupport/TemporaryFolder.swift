import Foundation

/// A folder of a test's own below the system's temporary one, gone with the value.
///
/// The path is short, for a Unix socket's address holds 107 bytes.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() {
        var template = Array((NSTemporaryDirectory() + "/norris.XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            fatalError("No temporary folder can be made: \(String(cString: strerror(errno)))")
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of something in the folder.
    package func callAsFunction(_ name: String) -> String {
        path + "/" + name
    }

    /// Writes a file into the folder and gives its path.
    package func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: self(name)))
        return self(name)
    }
}
