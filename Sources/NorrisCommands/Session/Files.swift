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
    let file = target(of: path)
    let (temporary, descriptor) = try newFile(beside: file)
    do throws(SystemError) {
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

/// Returns the file to which symbolic links lead from a path, also if there is no file yet.
private func target(of path: String) -> String {
    var path = path
    // The kernel follows at most 40 (path_resolution(7)).
    for _ in 0..<40 {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes { bytes in
            // Not nil, because the buffer is not empty.
            readlink(path, bytes.bindMemory(to: CChar.self).baseAddress!, bytes.count)
        }
        guard count > 0, let link = String(validating: buffer[..<count], as: UTF8.self) else { break }
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        path = link.utf8.first == UInt8(ascii: "/") ? link : (slash.map { String(path[...$0]) } ?? "") + link
    }
    return path
}

/// Creates a file with an unused name in the folder of another file.
private func newFile(beside file: String) throws(SystemError) -> (path: String, descriptor: Int32) {
    while true {
        let path = "\(file).\(String(UInt32.random(in: .min ... .max), radix: 16)).tmp"
        do throws(SystemError) { return (path, try openFile(path, O_WRONLY | O_CREAT | O_EXCL)) } catch {
            if error.code != EEXIST { throw error }
        }
    }
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
