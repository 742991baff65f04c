import CLinux
import Glibc
import NorrisFetchProtocol
package import NorrisSystem

/// The limits of this process. A document that takes over the decoder cannot lift them.
package enum Sandbox {
    /// In bytes.
    static let addressSpace: UInt = 256 << 20
    private static let descriptors: UInt = 64

    /// The files and folders that may be read: libraries, trusted certificates, and the settings of name lookups.
    private static let readable = [
        "/etc", "/usr", "/lib", "/lib64", "/opt", "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager",
        "/dev/null", "/dev/urandom", "/proc/self", "/proc/sys", "/sys/devices/system/cpu",
    ]

    /// Enters the sandbox, before anything is read.
    ///
    /// - Throws: if the kernel refuses a limit, except Landlock.
    package static func enter() throws(SystemError) {
        // Killed before the daemon if memory is short (proc_pid_oom_score_adj(5)).
        if let descriptor = try? openFile("/proc/self/oom_score_adj", O_WRONLY) {
            try? writeAll(Array("1000".utf8), to: descriptor)
            close(descriptor)
        }
        try limit(RLIMIT_CPU, to: UInt(FetchRequest.processorTime))
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
        let variables = ["SSL_CERT_FILE", "SSL_CERT_DIR"]
        let certificates = variables.compactMap { name in getenv(name).map { String(cString: $0) } }
        // Never freed, because the process is short.
        var paths: [UnsafePointer<CChar>?] = []
        for path in readable + certificates { paths.append(UnsafePointer(strdup(path))) }
        // Some kernels have no Landlock, and some containers refuse it.
        let refusal = norris_restrict_files(paths, CInt(paths.count))
        guard [0, ENOSYS, EOPNOTSUPP, EPERM].contains(refusal) else { throw SystemError("landlock", code: refusal) }
        let fault = norris_refuse_system_calls()
        guard fault == 0 else { throw SystemError("seccomp", code: fault) }
    }

    private static func limit(_ resource: __rlimit_resource, to maximum: UInt) throws(SystemError) {
        var limit = rlimit()
        getrlimit(CInt(resource.rawValue), &limit)
        limit.rlim_cur = min(limit.rlim_max, maximum)
        // At the hard limit of CPU time, the signal would be SIGKILL (setrlimit(2)).
        limit.rlim_max = min(limit.rlim_max, maximum + (resource == RLIMIT_CPU ? 1 : 0))
        guard setrlimit(CInt(resource.rawValue), &limit) == 0 else { throw SystemError("setrlimit") }
    }

    /// Makes the kernel send a signal to this process when its parent ends. Not possible in the sandbox.
    static func endWithParent(_ signal: CInt) throws(SystemError) {
        let code = norris_end_with_parent(signal)
        guard code == 0 else { throw SystemError("prctl", code: code) }
    }
}
