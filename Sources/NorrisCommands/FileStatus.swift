import Glibc
package import NorrisProtocol

/// What the system knows of a file without reading it.
package struct FileStatus: Equatable, Sendable {
    /// Not a folder, a pipe or a device.
    package var isPlainFile: Bool
    package var bytes: Int
    package var modifiedAt: Timestamp

    package init(isPlainFile: Bool, bytes: Int, modifiedAt: Timestamp) {
        self.isPlainFile = isPlainFile
        self.bytes = bytes
        self.modifiedAt = modifiedAt
    }
}

/// The status of what is at a path, or where a symbolic link there leads (stat(2)).
package func fileStatus(_ path: String) throws(ReadError) -> FileStatus {
    var status = stat()
    guard stat(path, &status) == 0 else { throw ReadError(errno: errno) }
    return FileStatus(
        isPlainFile: status.st_mode & S_IFMT == S_IFREG,
        bytes: status.st_size,
        modifiedAt: Timestamp(seconds: Int64(status.st_mtim.tv_sec))
    )
}
