import CLinux
import Glibc
import NorrisSystem

/// Properties of the daemon's process and machine, from the system.
enum CurrentProcess {
    /// The home directory of the process's user in the password database; nil if there is none.
    static var accountHome: String? {
        var record = passwd()
        var found: UnsafeMutablePointer<passwd>?
        // Larger than any real entry; a longer entry counts as missing.
        var buffer = [CChar](repeating: 0, count: 64 << 10)
        guard getpwuid_r(geteuid(), &record, &buffer, buffer.count, &found) == 0, found != nil, let home = record.pw_dir
        else { return nil }
        let path = String(cString: home)
        return path.hasPrefix("/") ? path : nil
    }

    /// The path of the program; `norrisd` if it is unknown.
    static var executable: String {
        guard let path = realpath("/proc/self/exe", nil) else { return "norrisd" }
        defer { free(path) }
        return String(cString: path)
    }

    /// The working directory; `/` if the directory was removed.
    static var currentDirectory: String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return String(cString: path)
    }

    /// An identifier of this machine: machine-id(5), or the host name. Used only as the seed of the schedule's jitter.
    static func machineID(file: String = "/etc/machine-id") -> String {
        if let text = readShort(file), !text.isEmpty { return text }
        var name = utsname()
        uname(&name)
        return withUnsafeBytes(of: &name.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// The daemon's memory that is not swapped out, in bytes; nil if the kernel does not report it.
    static func residentMemory(file: String = "/proc/self/statm") -> Int? { pages(file).map(\.resident) }

    /// Resident bytes, and the part of them that belongs to files (proc_pid_statm(5)).
    private static func pages(_ file: String) -> (resident: Int, ofFiles: Int)? {
        let numbers = (readShort(file)?.split(separator: " ") ?? []).prefix(3).compactMap { Int($0) }
        guard numbers.count == 3 else { return nil }
        return (numbers[1] * Int(getpagesize()), numbers[2] * Int(getpagesize()))
    }

    /// Free bytes in the C library after a peak, from which they are returned to the kernel.
    private static let muchFreeMemory = 16 << 20

    /// Returns freed memory that the C library holds to the kernel if at least 16 MiB are free (malloc_trim(3)). May
    /// take milliseconds, in which no other thread can allocate.
    ///
    /// - Returns: whether memory was returned.
    @discardableResult static func releaseFreeMemory() -> Bool {
        guard let pages = pages("/proc/self/statm") else { return false }
        guard pages.resident - pages.ofFiles - Int(clamping: norris_allocated_bytes()) >= muchFreeMemory else {
            return false
        }
        malloc_trim(0)
        return true
    }

    /// The first 128 bytes of a file; nil if the file cannot be read.
    private static func readShort(_ file: String) -> String? {
        guard let descriptor = try? openFile(file, O_RDONLY) else { return nil }
        defer { close(descriptor) }
        return (try? readAll(descriptor, limit: 128)).map { String(decoding: $0.prefix(128), as: UTF8.self) }
    }

    /// Unmaps the pages of code that were used so far (madvise(2), MADV_DONTNEED).
    ///
    /// A start uses most of the program once, and the kernel maps 16 pages around each page. Pages that are used again
    /// are mapped from the page cache. Measured: 20 MB resident instead of 30.
    static func releaseMappedCode(file: String = "/proc/self/maps") {
        guard let stream = fopen(file, "re") else { return }
        defer { fclose(stream) }
        var line = [CChar](repeating: 0, count: 1_024)
        while fgets(&line, CInt(line.count), stream) != nil {
            // "55d0c0e00000-55d0c2000000 r-xp 00000000 fe:00 1234 /usr/sbin/norrisd" (proc_pid_maps(5))
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let fields = text.split(separator: " ", maxSplits: 5)
            guard fields.count == 6, fields[1] == "r-xp", fields[5].drop(while: { $0 == " " }).first == "/"
            else { continue }
            let ends = fields[0].split(separator: "-").compactMap { UInt(String($0), radix: 16) }
            guard ends.count == 2, ends[0] < ends[1] else { continue }
            // A private mapping of a file without write permission has no changes that could be lost.
            madvise(UnsafeMutableRawPointer(bitPattern: ends[0]), Int(ends[1] - ends[0]), CInt(MADV_DONTNEED))
        }
    }
}
