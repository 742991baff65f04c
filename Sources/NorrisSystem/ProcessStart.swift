import Glibc

/// The state that a program inherits from its parent, put in order before anything else.
package enum ProcessStart {
    /// Call once, as the first statement of a program, before it opens a file or starts a thread.
    ///
    /// - Standard descriptors that the caller has closed are opened on `/dev/null`, so that no other file gets their
    ///   numbers. Reads and writes still fail.
    /// - No signal is blocked. SIGCHLD has its default action, because the kernel would otherwise discard the statuses
    ///   of programs that this one runs (waitpid(2)).
    /// - Arguments come from the C library, because `CommandLine` reads `/proc`, which may be absent.
    ///
    /// - Parameters:
    ///   - name: the name of the program in an error message.
    ///   - seesWriteErrors: whether SIGPIPE and SIGXFSZ are ignored, so that write(2) reports a pipe without a reader
    ///     and the limit of the file size. If not, they end the process.
    /// - Returns: the arguments without the name of the program. An argument that is not UTF-8 ends the process with
    ///   status 64, because it would name another file after a repair.
    package static func prepare(_ name: String, seesWriteErrors: Bool) -> [String] {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // open(2) returns the lowest free number, which is this descriptor.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
        signal(SIGPIPE, seesWriteErrors ? SIG_IGN : SIG_DFL)
        signal(SIGXFSZ, seesWriteErrors ? SIG_IGN : SIG_DFL)
        signal(SIGCHLD, SIG_DFL)
        var none = sigset_t()
        sigemptyset(&none)
        sigprocmask(SIG_SETMASK, &none, nil)
        guard let values = mainArguments.values else { return Array(CommandLine.arguments.dropFirst()) }
        var arguments: [String] = []
        for index in 1..<max(1, Int(mainArguments.count)) {
            guard let argument = values[index] else { break }
            guard let text = String(validatingCString: argument) else {
                let message = Array("\(name): argument \(index) is not valid UTF-8; use another name for it.\n".utf8)
                try? writeAll(message, to: STDERR_FILENO)
                exit(64)
            }
            arguments.append(text)
        }
        return arguments
    }

    /// Raises the limit of open files to the limit in the units, if the system allows (setrlimit(2)). A higher limit
    /// would slow programs of the configuration, which inherit it, because some close every possible descriptor.
    package static func raiseFileLimit() {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 8_192))
        setrlimit(resource, &limit)
    }

    /// Whether this many further descriptors can be open now. Some libraries end the process without one.
    package static func canOpenDescriptors(_ count: Int) -> Bool {
        let opened = (0..<count).map { _ in open("/", O_RDONLY | O_CLOEXEC) }
        for descriptor in opened where descriptor >= 0 { close(descriptor) }
        return !opened.contains(-1)
    }
}

/// The arguments of `main`. nonisolated(unsafe): written before `main` begins, and only read later.
nonisolated(unsafe) private var mainArguments:
    (count: CInt, values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) = (0, nil)

#if compiler(>=6.3)
    /// The C library calls each function in this section before `main`, with the same arguments.
    @section(".init_array") @used
    private let saveArguments: @convention(c) (CInt, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> Void = {
        count, values in
        mainArguments = (count, values)
    }
#endif

extension Environment {
    /// The environment of this process. A value that is not UTF-8 counts as unset, because it would name another file
    /// after a repair.
    package static var ofProcess: Environment {
        Environment { name in getenv(name).flatMap { String(validatingCString: $0) } }
    }
}
