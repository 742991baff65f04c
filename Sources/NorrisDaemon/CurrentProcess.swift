import CLinux
import Glibc

/// What norrisd asks the system about itself.
enum CurrentProcess {
    /// The home directory of the process's user in the password database; nil if there is none.
    static var accountHome: String? {
        var record = passwd()
        var found: UnsafeMutablePointer<passwd>?
        // Far beyond what any entry needs; a longer one counts as none.
        var buffer = [CChar](repeating: 0, count: 64 << 10)
        guard getpwuid_r(geteuid(), &record, &buffer, buffer.count, &found) == 0, found != nil, let home = record.pw_dir
        else { return nil }
        let path = String(cString: home)
        return path.hasPrefix("/") ? path : nil
    }

    /// The working directory; `/` if it has been removed.
    static var currentDirectory: String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return String(cString: path)
    }

    /// An identifier of this machine: machine-id(5), else the host's name. It seeds the schedule's jitter and goes
    /// nowhere else.
    static func machineID(file: String = "/etc/machine-id") -> String {
        if let text = readShort(file), !text.isEmpty { return text }
        var name = utsname()
        uname(&name)
        return withUnsafeBytes(of: &name.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// How much of the daemon's memory is not swapped out, in bytes; nil where the kernel does not say.
    static func residentMemory(file: String = "/proc/self/statm") -> Int? { pages(file).map(\.resident) }

    /// Bytes in memory, and how many of them are a file's (proc_pid_statm(5)).
    private static func pages(_ file: String) -> (resident: Int, ofFiles: Int)? {
        let numbers = (readShort(file)?.split(separator: " ") ?? []).prefix(3).compactMap { Int($0) }
        guard numbers.count == 3 else { return nil }
        return (numbers[1] * Int(getpagesize()), numbers[2] * Int(getpagesize()))
    }

    /// After a peak, so many bytes or more are resident and in no use.
    private static let muchFreeMemory = 16 << 20

    /// Returns to the kernel what the C library keeps of memory that was freed (malloc_trim(3)), where that is much. It
    /// may take milliseconds, in which no other thread can allocate.
    ///
    /// - Returns: whether there was much.
    @discardableResult static func releaseFreeMemory() -> Bool {
        guard let pages = pages("/proc/self/statm") else { return false }
        guard pages.resident - pages.ofFiles - Int(clamping: norris_allocated_bytes()) >= muchFreeMemory else {
            return false
        }
        malloc_trim(0)
        return true
    }

    /// The first 128 bytes of a file; nil where it cannot be read.
    private static func readShort(_ file: String) -> String? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 128)
        let count = read(descriptor, &buffer, buffer.count)
        return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// Removes the pages of code that were mapped so far from this process (madvise(2): MADV_DONTNEED).
    ///
    /// A start touches most of the program once, and the kernel maps 16 pages around each; the ones that are used again
    /// come back from the page cache. Measured: 30 MB resident become 20.
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
            // A private mapping of a file that nobody can write to has no changes to lose.
            madvise(UnsafeMutableRawPointer(bitPattern: ends[0]), Int(ends[1] - ends[0]), CInt(MADV_DONTNEED))
        }
    }
}
