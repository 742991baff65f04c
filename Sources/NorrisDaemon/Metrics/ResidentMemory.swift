import Glibc

/// How much of the daemon's memory is not swapped out, in bytes; nil where the kernel does not say.
func residentMemory(file: String = "/proc/self/statm") -> Int? {
    var buffer = [UInt8](repeating: 0, count: 128)
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let count = read(descriptor, &buffer, buffer.count)
    // The second number counts pages (proc_pid_statm(5)).
    let numbers = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
    return numbers.count > 1 ? Int(numbers[1]).map { $0 * Int(getpagesize()) } : nil
}
