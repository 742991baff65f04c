import Glibc
import NorrisTerminal

/// Writes a file as a whole or not at all: beside its place first, then moved there.
///
/// A new file has the mode that the user's files have; one that is there keeps its own, and its owner and group where
/// the user may give them. Where a symbolic link leads to it the link stays. What is no plain file, such as a pipe, is
/// written to as it is, and so is a descriptor that has been handed to norrisctl. A pipe that nobody reads any more is
/// no error.
package func writeFile(_ path: String, _ bytes: [UInt8]) throws(FileWriteError) {
    let place: String
    switch try FileDestination(path) {
    case .descriptor(let descriptor): return try writeAsItIs(bytes, descriptor)
    case .file(let path): place = path
    }
    // Moving asks no leave of what it replaces; opening does.
    let descriptor = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else {
        guard errno == ENOENT else { throw .system(errno: errno) }
        return try putFile(place, bytes, replacing: nil)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(errno: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { return try writeAsItIs(bytes, descriptor) }
    do throws(FileWriteError) {
        try putFile(place, bytes, replacing: status)
    } catch {
        // What the folder or a mount refuses, not what lacks room.
        if case .system(let errno) = error, [EACCES, EBUSY, EPERM, EROFS, EXDEV].contains(errno) {
            throw .notReplaced(errno: errno)
        }
        throw error
    }
}

private func writeAsItIs(_ bytes: [UInt8], _ descriptor: Int32) throws(FileWriteError) {
    guard isatty(descriptor) != 1 else { throw .terminal }
    try write(bytes, descriptor)
}

/// - Parameter old: the file that is there.
private func putFile(_ path: String, _ bytes: [UInt8], replacing old: stat?) throws(FileWriteError) {
    let beside = folder(of: path) + ".norrisctl-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    // A signal in between would leave the file beside.
    try holdingSignalsBack { _, _ throws(FileWriteError) in
        do throws(FileWriteError) {
            try createFile(beside, bytes, replacing: old)
            guard rename(beside, path) == 0 else { throw .system(errno: errno) }
        } catch {
            unlink(beside)
            throw error
        }
    }
}

private func createFile(_ path: String, _ bytes: [UInt8], replacing old: stat?) throws(FileWriteError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, old.map(modeInAnotherGroup) ?? 0o666)
    guard descriptor >= 0 else { throw .system(errno: errno) }
    do throws(FileWriteError) {
        try write(bytes, descriptor)
    } catch {
        close(descriptor)
        throw error
    }
    if let old {
        hand(descriptor, overFrom: old)
    }
    // Some file systems tell only here that there is no room (close(2)).
    guard close(descriptor) == 0 else { throw .system(errno: errno) }
}

/// Gives a file the owner, the group and the mode of the one whose place it takes, as far as the user may; some file
/// systems know none of these.
private func hand(_ descriptor: Int32, overFrom old: stat) {
    let hasGroup = fchown(descriptor, old.st_uid, old.st_gid) == 0 || fchown(descriptor, uid_t.max, old.st_gid) == 0
    fchmod(descriptor, hasGroup ? old.st_mode & 0o777 : modeInAnotherGroup(old))
}

/// The mode of a file without what it allows to its group alone, which would be another one.
private func modeInAnotherGroup(_ old: stat) -> mode_t {
    old.st_mode & (0o707 | (old.st_mode & 0o007) << 3)
}

private func write(_ bytes: [UInt8], _ descriptor: Int32) throws(FileWriteError) {
    do {
        try writeAll(bytes, to: descriptor)
    } catch {
        if case .system(let errno) = error { throw .system(errno: errno) }
    }
}
