import Glibc
import NorrisSystem

/// A fortune file.
struct FortuneFile: Equatable, Sendable {
    let path: String
    /// The file's name, which is also its category if the name is valid.
    let name: String
    let size: Int
    fileprivate let identity: FileIdentity
    /// The times of the file and of `NAME.dat`.
    fileprivate let modified: String
}

/// The reason why a fortune file or folder was not read, and the correction.
typealias FortuneFault = (path: String, problem: String)

/// The fortune files of the configured paths: folders with all files below them, each file once.
///
/// As in fortune(6), `NAME.dat`, `NAME.u8` and names that begin with a dot are no fortune files, and the folder `off`
/// with offensive texts is read only if configured by name.
struct FortuneFiles {
    private(set) var files: [FortuneFile] = []
    private(set) var faults: [FortuneFault] = []
    private var seen: Set<FileIdentity> = []

    static func find(_ paths: [String]) -> FortuneFiles {
        var found = FortuneFiles()
        for path in paths { found.visit(path) }
        return found
    }

    /// Changes when a file or its `NAME.dat` is added, changed or removed, or a fault begins or ends.
    var digest: String {
        let marks =
            files.map { "\($0.path)\0\($0.size)\0\($0.identity)\0\($0.modified)\n" }
            + faults.map { $0.path + $0.problem }
        return String(SipHash.hash(ofTexts: marks), radix: 16)
    }

    private mutating func visit(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            return refuse(path, "cannot be read (\(SystemError.reason())); check facts.fortunes")
        }
        let identity = FileIdentity(status)
        // A file or folder that is reached twice, by links or names, is read once; this also ends a loop of links.
        guard seen.insert(identity).inserted else { return }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: visitFolder(path)
        case S_IFREG:
            var format = stat()
            let hasFormat = stat(path + ".dat", &format) == 0
            files.append(
                FortuneFile(
                    path: path, name: lastComponent(of: path), size: Int(status.st_size), identity: identity,
                    modified: "\(status.st_mtim) \(hasFormat ? "\(format.st_mtim)" : "")"))
        default: refuse(path, "is neither a file nor a folder; take it out of facts.fortunes")
        }
    }

    private mutating func visitFolder(_ path: String) {
        guard let folder = opendir(path) else {
            return refuse(path, "cannot be listed (\(SystemError.reason())); check its permissions")
        }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if isRead(name) { names.append(name) }
        }
        // Closed before the folders in it are opened, because otherwise deep folders could use all descriptors.
        closedir(folder)
        let base = path.utf8.last == UInt8(ascii: "/") ? path : path + "/"
        // Sorted, so that the order of equal texts does not depend on the file system.
        for name in names.sorted() { visit(base + name) }
    }

    private func isRead(_ name: String) -> Bool {
        !name.utf8.starts(with: ".".utf8) && name != "off" && !name.hasSuffix(".dat") && !name.hasSuffix(".u8")
    }

    private mutating func refuse(_ path: String, _ problem: String) { faults.append((path, problem)) }
}

/// The last component of a path.
func lastComponent(of path: String) -> String {
    // Splits bytes, because a combining mark after the slash would form one character with it.
    path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? path
}
