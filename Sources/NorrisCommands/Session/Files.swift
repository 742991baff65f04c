import Glibc
import NorrisProtocol
import NorrisSystem

extension Session {
    /// Reads the file that an argument names; `-` is standard input. `content` is the end of "Reading".
    ///
    /// - Returns: The bytes, and the name of the input in messages.
    func readInput(
        _ file: String, _ content: String, atMost mebibytes: Int, advice: Advice
    ) throws(Failure) -> (bytes: [UInt8], name: String) {
        let isInput = file == "-"
        let name = isInput ? "Standard input" : file.quotedForMessage
        let bytes: [UInt8]
        if isInput {
            if system.isInputTerminal { writeError("norrisctl: Reading \(content). Ctrl-D ends it.") }
            bytes = try readInput(mebibytes << 20)
        } else {
            do { bytes = try system.readFile(file, mebibytes << 20) } catch {
                throw Failure(.inputOutput, "\(name) cannot be read: \(error.reason).")
            }
        }
        guard bytes.count <= mebibytes << 20 else {
            throw Failure(.usage, "\(name) is larger than \(mebibytes) MiB.", hint: advice)
        }
        return (bytes, name)
    }

    /// Reads standard input to its end, or some bytes past the limit.
    func readInput(_ limit: Int) throws(Failure) -> [UInt8] {
        do { return try system.clock.pause { try readAll(system.input, limit: limit) } } catch {
            throw Failure(.inputOutput, "Standard input cannot be read.")
        }
    }

    func write(_ bytes: [UInt8], toFile file: String) throws(Failure) {
        do { try writeFile(system.file(file), bytes) } catch {
            throw Failure(.inputOutput, "\(file.quotedForMessage) cannot be written: \(error.reason).")
        }
    }
}

/// Reads a file to its end, or some bytes past the limit.
func readFile(_ path: String, limit: Int) throws(SystemError) -> [UInt8] {
    let descriptor = try openFile(path, O_RDONLY)
    defer { close(descriptor) }
    return try readAll(descriptor, limit: limit)
}

/// Writes a file as a whole or not at all: into a new file beside it, which then takes its place, its mode and, if
/// permitted, its owner. A symbolic link to the file stays. Other files than plain ones, such as pipes, are written
/// directly.
func writeFile(_ path: String, _ bytes: [UInt8]) throws(SystemError) {
    var (old, link) = (stat(), stat())
    let exists = stat(path, &old) == 0
    let isLink = lstat(path, &link) == 0 && link.st_mode & S_IFMT == S_IFLNK
    // A link without a file gets one.
    if exists ? old.st_mode & S_IFMT != S_IFREG : isLink {
        return try write(bytes, try openFile(path, O_WRONLY | O_CREAT | O_NOCTTY))
    }
    let file = isLink ? realPath(path) ?? path : path
    // A signal that ends norrisctl would leave the new file.
    var before = blockSignals([SIGHUP, SIGINT, SIGQUIT, SIGTERM])
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
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

/// Creates a file with an unused name in the folder of another file.
private func newFile(beside file: String) throws(SystemError) -> (path: String, descriptor: Int32) {
    // Not the name of the file with a suffix, because the name may have 255 bytes already.
    let folder = file.utf8.lastIndex(of: UInt8(ascii: "/")).map { file[...$0] } ?? ""
    while true {
        let path = "\(folder).norrisctl-\(String(UInt32.random(in: .min ... .max), radix: 16)).tmp"
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
func realPath(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
}
