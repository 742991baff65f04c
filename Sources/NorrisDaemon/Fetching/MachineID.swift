import Glibc

/// What tells this machine from others: machine-id(5), else the host's name. It seeds the schedule's jitter and goes
/// nowhere else.
enum MachineID {
    static func current(file: String = "/etc/machine-id") -> String {
        var buffer = [UInt8](repeating: 0, count: 64)
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        if descriptor >= 0 {
            defer { close(descriptor) }
            let count = read(descriptor, &buffer, buffer.count)
            if count > 0 { return String(decoding: buffer[..<count], as: UTF8.self) }
        }
        var name = utsname()
        uname(&name)
        return withUnsafeBytes(of: &name.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
