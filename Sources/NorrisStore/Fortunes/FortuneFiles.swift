import Glibc
import NorrisSystem

/// A fortune file.
struct FortuneFile: Equatable, Sendable {
    let path: String
    /// The file's name, which is also its category if the name is valid.
    let name: String
    let size: Int
    fileprivate let identity: FileIdentity
    fileprivate let modified: Int64
}

/// The reason why a fortune file or folder was not read, and the correction.
struct FortuneFault: Error, Equatable, CustomStringConvertible {
    /// The extent of the unread files, whose stored facts stay.
    enum Extent: Sendable {
        /// None, because the file does not exist.
        case nothing
        case file
        /// A folder, or possibly a folder, with any number of files.
        case unknown
    }

    let path: String
    let problem: String
    var extent = Extent.file

    var description: String { "\(path): \(problem)" }
}

/// The fortune files of the configured paths: folders with all files below them, each file once.
///
/// As in fortune(6), `NAME.dat`, `NAME.u8` and names that begin with a dot are skipped, and the folder `off` with
/// offensive texts is read only if configured by name.
struct FortuneFiles {
    private(set) var files: [FortuneFile] = []
    private(set) var faults: [FortuneFault] = []
    private var seen: Set<FileIdentity> = []

    /// The maximum size in bytes; a larger file is not a fortune file.
    static let maximumSize = 16 * 1024 * 1024
    static let tooLarge = "is larger than 16 MiB; split it, or take it out of facts.fortunes"

    static func find(_ paths: [String]) -> FortuneFiles {
        var found = FortuneFiles()
        for path in paths { found.visit(path) }
        return found
    }

    /// Changes when a file is added, changed or removed.
    var digest: String {
        let marks = files.map { "\($0.path)\0\($0.size)\0\($0.identity)\0\($0.modified)\n" }.joined()
        return String(SipHash.hash(marks.utf8, key: (0, 0)), radix: 16)
    }

    private mutating func visit(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let isGone = errno == ENOENT || errno == ENOTDIR
            let problem = "cannot be read (\(SystemError.reason())); check facts.fortunes"
            return refuse(path, problem, extent: isGone ? .nothing : .unknown)
        }
        let identity = FileIdentity(status)
        // A file or folder that is reached twice, by links or names, is read once; this also ends a loop of links.
        guard seen.insert(identity).inserted else { return }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: visitFolder(path)
        case S_IFREG:
            if Int(status.st_size) > FortuneFiles.maximumSize { return refuse(path, FortuneFiles.tooLarge) }
            files.append(
                FortuneFile(
                    path: path, name: lastComponent(of: path), size: Int(status.st_size), identity: identity,
                    modified: Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)))
        default: refuse(path, "is neither a file nor a folder; take it out of facts.fortunes")
        }
    }

    private mutating func visitFolder(_ path: String) {
        guard let folder = opendir(path) else {
            let problem = "cannot be listed (\(SystemError.reason())); check its permissions"
            return refuse(path, problem, extent: .unknown)
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

    private mutating func refuse(_ path: String, _ problem: String, extent: FortuneFault.Extent = .file) {
        faults.append(FortuneFault(path: path, problem: problem, extent: extent))
    }
}

/// The last component of a path.
func lastComponent(of path: String) -> String {
    // Splits bytes, because a combining mark after the slash would form one character with it.
    path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? path
}
