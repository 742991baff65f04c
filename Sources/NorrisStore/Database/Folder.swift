import Glibc
import NorrisProtocol
import NorrisSystem

/// Folders and files on disk.
package enum Folder {
    /// Creates a folder and its parents with mode 0700, as the XDG Base Directory Specification requires.
    package static func make(_ path: String) throws(StoreError) {
        if mkdir(path, 0o700) == 0 { return }
        if errno == EEXIST, let status = status(of: path), status.st_mode & S_IFMT == S_IFDIR { return }
        guard errno == ENOENT, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else {
            throw notWritable(path)
        }
        try make(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw notWritable(path) }
    }

    /// Creates an empty file with mode 0600, unless the file exists.
    ///
    /// SQLite uses the mode of a database for its other files. An existing file is not opened, because closing any
    /// descriptor of a file releases SQLite's locks (fcntl(2)).
    ///
    /// - Throws: if the file cannot be written.
    static func makePrivateFile(_ path: String) throws(StoreError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
        guard descriptor >= 0 || errno == EEXIST && faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0 else {
            throw notWritable(path)
        }
    }

    /// Whether a file of a size could be stored beside another one. Blocking.
    static func canWrite(_ bytes: Int, beside path: String) -> Bool {
        let probe = path + ".probe"
        unlink(probe)
        let descriptor = open(probe, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        unlink(probe)
        defer { close(descriptor) }
        return posix_fallocate(descriptor, 0, bytes) == 0
    }

    /// The owner of a file or link if the owner is neither this user nor root; nil for a missing file.
    ///
    /// In a folder that several users may write to, such a link could lead to any file of this user, and the owner of
    /// such a file could read it.
    static func foreignOwner(of path: String) -> UInt32? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_uid != 0, status.st_uid != geteuid() else { return nil }
        return status.st_uid
    }

    /// The error for the current errno.
    fileprivate static func notWritable(_ path: String) -> StoreError {
        .notWritable(path, SystemError.reason())
    }

    /// Whether there is no file, in contrast to a file about which the disk tells nothing.
    static func isMissing(_ path: String) -> Bool { status(of: path) == nil && errno == ENOENT }

    /// nil for a missing file, and if the disk fails.
    private static func status(of path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    /// nil for a missing file, and if the disk fails.
    static func identity(of path: String) -> FileIdentity? { status(of: path).map(FileIdentity.init) }

    /// The time of the last change of a file; nil if the file does not exist.
    static func modificationTime(of path: String) -> Timestamp? {
        status(of: path).map { Timestamp(seconds: Int64($0.st_mtim.tv_sec)) }
    }

    /// Renames a complete file, which replaces another one, and writes both to the disk.
    static func replace(_ path: String, by new: String) throws(StoreError) {
        guard synchronize(new) else { throw notWritable(path) }
        try rename(new, to: path)
        // Without permission to read the folder, the name is written later.
        _ = synchronize(parent(of: path))
    }

    static func rename(_ path: String, to new: String) throws(StoreError) {
        guard Glibc.rename(path, new) == 0 else { throw notWritable(path) }
    }

    /// The folder of a file.
    static func parent(of path: String) -> String { String(path.dropLast(lastComponent(of: path).count + 1)) }

    /// Writes a file, or the names in a folder, to the disk (fsync(2)).
    private static func synchronize(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }

    /// The name of a file for SQLite with a parameter (https://sqlite.org/uri.html).
    static func uri(_ path: String, _ parameter: String) -> String {
        // Only these three characters are special in the path of the URI.
        let encoded = path.utf8.flatMap { "?#%".utf8.contains($0) ? Array("%\(String($0, radix: 16))".utf8) : [$0] }
        return "file:\(String(decoding: encoded, as: UTF8.self))?\(parameter)"
    }

    /// The bytes on disk of a database with its write-ahead log.
    static func size(ofDatabase path: String) -> Int { size(of: path) + size(of: path + "-wal") }

    /// The bytes of a file; 0 if the file does not exist.
    static func size(of path: String) -> Int { status(of: path).map { Int($0.st_size) } ?? 0 }

    /// The free bytes for this user on a file's file system (statvfs(3)), at most the largest integer of a reply; nil
    /// if the file does not exist.
    static func freeBytes(besides path: String) -> Int? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return Int(min(Double(status.f_bavail) * Double(status.f_frsize), Double(JSON.maximumInteger)))
    }
}

/// The identity of a file, independent of its path.
struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64

    init(_ status: stat) { (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino)) }
}

/// The lock that excludes a second daemon from a folder. The kernel releases it when the process ends.
package final class InstanceLock: Sendable {
    private let descriptor: CInt

    /// Takes the lock of a folder without waiting.
    ///
    /// - Parameters:
    ///   - option: the option of norrisd that gives another folder.
    ///   - lock: flock(2), except in tests.
    package init(folder: String, option: String, lock: (CInt, CInt) -> CInt = flock) throws(StoreError) {
        let path = folder + "/lock"
        // Does not follow a link, because in a folder of another user the link could lead to a file that must not be
        // truncated.
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Folder.notWritable(path) }
        guard lock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            // Other errors, such as ENOLCK of a network's file system, do not mean that another daemon has the lock.
            let isHeld = errno == EWOULDBLOCK
            let error = Folder.notWritable(path)
            let pid = InstanceLock.holder(descriptor)
            close(descriptor)
            guard isHeld else { throw error }
            let other = pid.map { "the norrisd with process id \($0)" } ?? "another norrisd"
            throw StoreError(folder, .locked, "\(other) uses this folder; stop it, or give another \(option)")
        }
        self.descriptor = descriptor
        // The content is only for the message of a second daemon, so a failed write is no error.
        let pid = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, pid, pid.count, 0)
    }

    deinit { close(descriptor) }

    /// Whether this is the lock of a folder, by whatever path.
    package func isIn(_ folder: String) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && Folder.identity(of: folder + "/lock") == FileIdentity(status)
    }

    private static func holder(_ descriptor: CInt) -> Int? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        let digits = bytes.prefix(max(count, 0)).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return Int(String(decoding: digits, as: UTF8.self))
    }
}
