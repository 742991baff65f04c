import Glibc
import NorrisProtocol
import NorrisSystem

struct FileStatus: Equatable, Sendable {
    /// Whether the file is regular, so no folder, pipe or device.
    var isPlainFile: Bool
    var bytes: Int
    var modifiedAt: Timestamp
}

/// Returns the status of a file, and follows symbolic links (stat(2)).
func fileStatus(_ path: String) throws(SystemError) -> FileStatus {
    var status = stat()
    guard stat(path, &status) == 0 else { throw SystemError("stat") }
    return FileStatus(
        isPlainFile: status.st_mode & S_IFMT == S_IFREG, bytes: status.st_size,
        modifiedAt: Timestamp(seconds: Int64(status.st_mtim.tv_sec)))
}

/// Reads a file to its end, or some bytes past the limit.
func readFile(_ path: String, limit: Int) throws(SystemError) -> [UInt8] {
    let descriptor = try openFile(path, O_RDONLY)
    defer { close(descriptor) }
    return try readAll(descriptor, limit: limit)
}

/// Writes a file as a whole or not at all: into a new file beside it, which then takes its place, its mode and, where
/// that is permitted, its owner. Where a symbolic link leads to it the link stays. What is no plain file, such as a
/// pipe, is written to as it is.
func writeFile(_ path: String, _ bytes: [UInt8]) throws(SystemError) {
    var old = stat()
    let exists = stat(path, &old) == 0
    if exists, old.st_mode & S_IFMT != S_IFREG {
        return try write(bytes, try openFile(path, O_WRONLY | O_NOCTTY))
    }
    let file = exists ? realPath(path) ?? path : path
    let temporary = "\(file).\(getpid()).tmp"
    do throws(SystemError) {
        let descriptor = try openFile(temporary, O_WRONLY | O_CREAT | O_EXCL)
        if exists {
            _ = fchown(descriptor, old.st_uid, old.st_gid)
            fchmod(descriptor, old.st_mode & 0o777)
        }
        try write(bytes, descriptor)
        try renameFile(temporary, to: file)
    } catch {
        unlink(temporary)
        throw error
    }
}

/// Creates a folder with the missing folders above it. New folders are private in the home directory, and elsewhere
/// open to the daemon, because the daemon runs as another user.
func makeFolder(_ path: String, home: String?) throws(SystemError) {
    let mode: mode_t = home.map { path.hasPrefix("\($0)/") } ?? false ? 0o700 : 0o755
    for index in path.indices.dropFirst() where path[index] == "/" { mkdir(String(path[..<index]), mode) }
    guard mkdir(path, mode) == 0 || errno == EEXIST else { throw SystemError("mkdir") }
}

/// Writes a new file with mode 0600. Creates missing folders.
func createFile(_ path: String, _ bytes: [UInt8], home: String?) throws(SystemError) {
    if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
        // An error of the folder is also an error of the file.
        try? makeFolder(String(path[..<slash]), home: home)
    }
    try write(bytes, try openFile(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600))
}

/// Whether the nearest existing folder is writable, so that ``writeFile(_:_:)`` may replace or create a file.
func mayReplace(_ path: String) -> Bool {
    var folder = (realPath(path) ?? path)[...]
    while let slash = folder.utf8.lastIndex(of: UInt8(ascii: "/")) {
        folder = folder[..<slash]
        let name = folder.isEmpty ? "/" : String(folder)
        if access(name, F_OK) == 0 { return access(name, W_OK) == 0 }
    }
    return access(".", W_OK) == 0
}

/// Writes all bytes to the disk and closes the descriptor. A pipe whose reader has closed it is no error.
private func write(_ bytes: [UInt8], _ descriptor: Int32) throws(SystemError) {
    defer { close(descriptor) }
    do throws(SystemError) {
        try writeAll(bytes, to: descriptor)
        // A pipe or a device cannot be synced (fsync(2)).
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else { throw SystemError("fsync") }
    } catch {
        if !error.isClosedPipe { throw error }
    }
}

/// Returns the path without symbolic links (realpath(3)), or nil if no file exists.
private func realPath(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
}

/// Returns the folders of norrisctl's own programs: the folder of its executable, as after a build, and the folder of
/// the packages. Returns none if proc(5) is unavailable.
func ownFolders() -> [String] {
    guard let file = realPath("/proc/self/exe"), let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else {
        return []
    }
    let folder = file[..<slash]
    return [String(folder), "\(folder)/../libexec/norrisd"]
}
