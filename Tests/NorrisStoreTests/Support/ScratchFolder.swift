import Foundation

/// A folder of its own for a test, gone when the test lets go of it.
final class ScratchFolder: Sendable {
    let path: String

    init() {
        path = NSTemporaryDirectory() + "norris-store-" + UUID().uuidString
        try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)  // A new name.
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    subscript(name: String) -> String { path + "/" + name }

    /// Writes a file, and the folders above it.
    @discardableResult
    func write(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
        let path = self[name]
        let folder = String(path[..<path.lastIndex(of: "/")!])  // The folder's own path holds one.
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        try write(name, text.utf8)
    }

    func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: self[name])))
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: self[name])
    }

    /// The names in a folder below, sorted.
    func names(_ name: String = ".") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self[name]).sorted()
    }

    func exists(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: self[name])
    }

    /// The permission bits of a file.
    func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: self[name])
        return (attributes[.posixPermissions] as? Int) ?? -1
    }
}
