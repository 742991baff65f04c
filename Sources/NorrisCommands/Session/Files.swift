import Glibc
import NorrisProtocol
import NorrisTerminal

/// The failure of a system call.
struct SystemError: Error, Equatable {
    let errno: Int32

    /// The system's description, such as `Is a directory`.
    var reason: String { String(cString: strerror(errno)) }
}

struct FileStatus: Equatable, Sendable {
    /// Whether the file is regular, so no folder, pipe or device.
    var isPlainFile: Bool
    var bytes: Int
    var modifiedAt: Timestamp
}

/// Returns the status of a file, and follows symbolic links (stat(2)).
func fileStatus(_ path: String) throws(SystemError) -> FileStatus {
    var status = stat()
    guard stat(path, &status) == 0 else { throw SystemError(errno: errno) }
    return FileStatus(
        isPlainFile: status.st_mode & S_IFMT == S_IFREG, bytes: status.st_size,
        modifiedAt: Timestamp(seconds: Int64(status.st_mtim.tv_sec)))
}

/// Reads a file to its end, or some bytes past the limit.
func readFile(_ path: String, limit: Int) throws(SystemError) -> [UInt8] {
    let descriptor = try open(path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    return try readAll(descriptor, limit: limit)
}

/// Reads a descriptor to its end, or some bytes past the limit.
func readAll(_ descriptor: Int32, limit: Int) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while bytes.count <= limit {
        let count = read(descriptor, &buffer, buffer.count)
        if count == 0 { break }
        if count > 0 {
            bytes += buffer[..<count]
        } else if errno != EINTR {
            throw SystemError(errno: errno)
        }
    }
    return bytes
}

/// Writes a file as a whole or not at all: a new file in the same folder replaces the old file, with the same mode and,
/// if permitted, owner. Symbolic links to the file remain. Other files, such as pipes, are written directly.
func writeFile(_ path: String, _ bytes: [UInt8]) throws(SystemError) {
    var old = stat()
    let exists = stat(path, &old) == 0
    if exists, old.st_mode & S_IFMT != S_IFREG {
        return try write(bytes, try open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC))
    }
    let file = exists ? realPath(path) ?? path : path
    let temporary = "\(file).\(getpid()).tmp"
    do throws(SystemError) {
        let descriptor = try open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC)
        if exists {
            _ = fchown(descriptor, old.st_uid, old.st_gid)
            fchmod(descriptor, old.st_mode & 0o777)
        }
        try write(bytes, descriptor)
        guard rename(temporary, file) == 0 else { throw SystemError(errno: errno) }
    } catch {
        unlink(temporary)
        throw error
    }
}

/// Writes a new file with mode 0600. Creates missing folders, which are private in the home directory, and elsewhere
/// open to the daemon, because the daemon runs as another user.
func createFile(_ path: String, _ bytes: [UInt8], home: String?) throws(SystemError) {
    let mode: mode_t = home.map { path.hasPrefix("\($0)/") } ?? false ? 0o700 : 0o755
    for index in path.indices.dropFirst() where path[index] == "/" { mkdir(String(path[..<index]), mode) }
    try write(bytes, try open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode: 0o600))
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

private func open(_ path: String, _ flags: Int32, mode: mode_t = 0o666) throws(SystemError) -> Int32 {
    let descriptor = Glibc.open(path, flags, mode)
    guard descriptor >= 0 else { throw SystemError(errno: errno) }
    return descriptor
}

/// Writes all bytes and closes the descriptor. A pipe without a reader is no error.
private func write(_ bytes: [UInt8], _ descriptor: Int32) throws(SystemError) {
    do {
        defer { close(descriptor) }
        try writeAll(bytes, to: descriptor)
    } catch {
        if case .system(let errno) = error { throw SystemError(errno: errno) }
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
