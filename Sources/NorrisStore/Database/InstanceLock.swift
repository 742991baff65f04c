import Glibc

/// The lock that keeps a second daemon from the same state folder; given back when the process ends, however it ends.
package struct InstanceLock: ~Copyable {
    private let descriptor: CInt

    /// Takes the lock of a folder without waiting (flock(2)).
    package init(folder: String) throws(StoreError) {
        let path = folder + "/lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(path: path, .notWritable(String(cString: strerror(errno))))
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let pid = InstanceLock.holder(descriptor)
            close(descriptor)
            throw StoreError(path: folder, .locked(pid: pid))
        }
        self.descriptor = descriptor
        // Only for the message of whoever comes second, so a failure to write it is no failure.
        let pid = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, pid, pid.count, 0)
    }

    deinit {
        close(descriptor)
    }

    private static func holder(_ descriptor: CInt) -> Int? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        let digits = bytes.prefix(count).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return Int(String(decoding: digits, as: UTF8.self))
    }
}
