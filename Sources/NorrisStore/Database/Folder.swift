import Glibc
import NorrisProtocol

/// A folder that holds a database.
package enum Folder {
    /// Makes a folder with its parents, private to this user (mode 0700), as the XDG base directory specification wants.
    package static func make(_ path: String) throws(StoreError) {
        guard mkdir(path, 0o700) != 0 else { return }
        switch errno {
        case EEXIST:
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                throw StoreError(path: path, .notWritable("it is no folder"))
            }
        case ENOENT:
            guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else {
                throw StoreError(path: path, .notWritable("there is no parent folder"))
            }
            try make(String(path[..<slash]))
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
                throw StoreError(path: path, .notWritable(String(cString: strerror(errno))))
            }
        default:
            throw StoreError(path: path, .notWritable(String(cString: strerror(errno))))
        }
    }

    /// Makes an empty file that only this user reads and writes (mode 0600), unless there is a file.
    ///
    /// SQLite gives the files beside a database the mode of the database. No connection to the file may be open: to
    /// close any descriptor of a file takes SQLite's locks off it (fcntl(2)).
    ///
    /// - Throws: where it cannot be written; SQLite itself would open it and fail at the first change.
    static func makePrivateFile(_ path: String) throws(StoreError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError(path: path, .notWritable(String(cString: strerror(errno)))) }
        close(descriptor)
    }

    /// The inode and device of a file, or nil where there is none: tells a file from one made anew at its path.
    static func identity(of path: String) -> FileIdentity? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// Bytes on disk of a database with its write-ahead log.
    static func size(ofDatabase path: String) -> Int {
        size(of: path) + size(of: path + "-wal")
    }

    /// Bytes of a file; 0 where there is none.
    static func size(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Bytes that this user may still write to the file system of a file (statvfs(3)); nil where there is no such file.
    static func freeBytes(besides path: String) -> Int? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return bytes(ofBlocks: UInt64(status.f_bavail), size: UInt64(status.f_frsize))
    }

    /// Some file systems tell of more than there can be; 2^53 is as much as a reply may say.
    static func bytes(ofBlocks count: UInt64, size: UInt64) -> Int {
        let (bytes, isOver) = count.multipliedReportingOverflow(by: size)
        let most = UInt64(JSON.maximumInteger)
        return Int(isOver ? most : min(bytes, most))
    }
}

/// What tells two files apart.
struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
}
