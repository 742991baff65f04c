import CLinux
import Glibc
package import NorrisSystem

/// The limits of this process. A document that takes over the decoder cannot lift them.
package enum Sandbox {
    /// In seconds.
    private static let processorTime: UInt = 3
    private static let addressSpace: UInt = 256 << 20
    private static let descriptors: UInt = 64

    /// The files and folders that may be read: libraries, trusted certificates, and the settings of name lookups.
    private static let readable = [
        "/etc", "/usr", "/lib", "/lib64", "/opt", "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager",
        "/dev/null", "/dev/urandom", "/proc/self", "/proc/sys", "/sys/devices/system/cpu",
    ]

    /// Enters the sandbox, before anything is read.
    ///
    /// - Throws: if the kernel refuses a limit that every kernel has.
    package static func enter() throws(SystemError) {
        // Killed before the daemon if memory is short (proc_pid_oom_score_adj(5)).
        if let descriptor = try? openFile("/proc/self/oom_score_adj", O_WRONLY) {
            try? writeAll(Array("1000".utf8), to: descriptor)
            close(descriptor)
        }
        try limit(RLIMIT_CPU, to: processorTime)
        #if !NORRIS_SANITIZED
            try limit(RLIMIT_AS, to: addressSpace)
        #endif
        try limit(RLIMIT_NOFILE, to: descriptors)
        try limit(RLIMIT_CORE, to: 0)
        // By hand, the output may be a file.
        let isFile = [STDOUT_FILENO, STDERR_FILENO].contains { descriptor in
            var status = stat()
            return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }
        if !isFile { try limit(RLIMIT_FSIZE, to: 0) }
        let code = norris_refuse_privileges()
        guard code == 0 else { throw SystemError("prctl", code: code) }
        // Not available in every kernel.
        let variables = ["SSL_CERT_FILE", "SSL_CERT_DIR"]
        let certificates = variables.compactMap { name in getenv(name).map { String(cString: $0) } }
        // Never freed, because the process is short.
        var paths: [UnsafePointer<CChar>?] = []
        for path in readable + certificates { paths.append(UnsafePointer(strdup(path))) }
        _ = norris_restrict_files(paths, CInt(paths.count))
        _ = norris_refuse_system_calls()
    }

    private static func limit(_ resource: __rlimit_resource, to maximum: UInt) throws(SystemError) {
        var limit = rlimit()
        getrlimit(CInt(resource.rawValue), &limit)
        limit.rlim_cur = min(limit.rlim_max, maximum)
        // At the hard limit of CPU time, the signal would be SIGKILL (setrlimit(2)).
        limit.rlim_max = min(limit.rlim_max, maximum + (resource == RLIMIT_CPU ? 1 : 0))
        guard setrlimit(CInt(resource.rawValue), &limit) == 0 else { throw SystemError("setrlimit") }
    }

    /// Ends this process when its parent ends.
    ///
    /// - Returns: false if the parent has ended already.
    static func endWithParent(_ parent: Int) -> Bool {
        norris_end_with_parent() == 0 && getppid() == pid_t(truncatingIfNeeded: parent)
    }
}
