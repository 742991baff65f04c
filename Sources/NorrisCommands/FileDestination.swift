import Glibc

/// Where the symbolic links at a path lead in the end.
enum FileDestination {
    /// A descriptor of norrisctl's own, by a name such as `/dev/stdout`, `/dev/fd/3` or `/proc/self/fd/3`.
    ///
    /// What such a link says is words for people, such as `pipe:[4711]`, and no path (proc_pid_fd(5)).
    case descriptor(Int32)
    /// There may be something at this path or nothing, but no link.
    case file(String)

    init(_ path: String) throws(FileWriteError) {
        var path = path
        // As many as the system itself follows (path_resolution(7)).
        for _ in 0...40 {
            if let descriptor = ownDescriptor(named: path) {
                self = .descriptor(descriptor)
                return
            }
            do {
                let target = try targetOfLink(path)
                path = target.utf8.first == UInt8(ascii: "/") ? target : folder(of: path) + target
            } catch {
                // It is no link, or not there.
                guard [EINVAL, ENOENT].contains(error.errno) else { throw .system(errno: error.errno) }
                self = .file(path)
                return
            }
        }
        throw .system(errno: ELOOP)
    }
}

/// nil if the path means something else; the descriptor need not be open.
private func ownDescriptor(named path: String) -> Int32? {
    let folder = folder(of: path)
    let name = path.utf8.dropFirst(folder.utf8.count)
    guard name.allSatisfy({ 0x30...0x39 ~= $0 }), let number = Int32(Substring(name)) else { return nil }
    guard let real = realpath(folder.isEmpty ? "." : folder, nil) else { return nil }
    defer { free(real) }
    return String(cString: real) == "/proc/\(getpid())/fd" ? number : nil
}

/// With the slash behind it; empty for the current one.
///
/// Bytes are compared: a slash and a combining mark behind it are one character.
func folder(of path: String) -> String {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(Substring(path.utf8[...$0])) } ?? ""
}
