import Glibc
import SystemdIntegration
import Testing

struct ListenDescriptorsTests {
    @Test func listeningUnixStreamSocketIsAccepted() throws {
        let descriptor = try boundSocket(SOCK_STREAM, listening: true)
        defer { close(descriptor) }
        #expect(try ListenDescriptors.listening(among: descriptor..<(descriptor + 1)) == descriptor)
    }

    @Test func otherSocketsAndFilesAreRefused() throws {
        let datagram = try boundSocket(SOCK_DGRAM, listening: false)
        let internet = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        let file = open("/dev/null", O_RDONLY)
        for descriptor in [datagram, internet, file] {
            defer { close(descriptor) }
            expectError("Descriptor \(descriptor) passed to norrisd is not a Unix stream socket: ") {
                try ListenDescriptors.listening(among: descriptor..<(descriptor + 1))
            }
        }
    }

    @Test func socketThatDoesNotListenIsRefused() throws {
        let descriptor = try boundSocket(SOCK_STREAM, listening: false)
        defer { close(descriptor) }
        expectError("Descriptor \(descriptor) passed to norrisd is not a listening socket: ") {
            try ListenDescriptors.listening(among: descriptor..<(descriptor + 1))
        }
    }

    // The remaining tests run in separate processes, because they change the environment and descriptor 3.

    @Test func inheritedSocketIsFoundOnceAndClosedOnExec() async {
        await #expect(processExitsWith: .success) {
            let listener = try boundSocket(SOCK_STREAM, listening: true)
            setenv("LISTEN_PID", "\(getpid())", 1)
            setenv("LISTEN_FDS", "1", 1)
            setenv("LISTEN_FDNAMES", "norrisd.socket", 1)

            // Descriptor 3 may be the connection of this process to the test runner, so the test restores it.
            let lent = dup(3)
            dup2(listener, 3)
            let found = try ListenDescriptors.inherited()
            let flags = fcntl(3, F_GETFD)
            if lent >= 0 { dup2(lent, 3) }

            #expect(found == 3)
            #expect(flags & FD_CLOEXEC != 0)
            #expect(getenv("LISTEN_PID") == nil)
            #expect(getenv("LISTEN_FDS") == nil)
            #expect(getenv("LISTEN_FDNAMES") == nil)
            let foundAgain = try ListenDescriptors.inherited()
            #expect(foundAgain == nil)
        }
    }

    @Test func variablesForAnotherProcessAreIgnored() async {
        await #expect(processExitsWith: .success) {
            setenv("LISTEN_PID", "1", 1)
            setenv("LISTEN_FDS", "1", 1)
            let foreign = try ListenDescriptors.inherited()
            #expect(foreign == nil)

            unsetenv("LISTEN_PID")
            unsetenv("LISTEN_FDS")
            let none = try ListenDescriptors.inherited()
            #expect(none == nil)
        }
    }
}

/// A Unix socket with a name of the kernel's choice in the abstract namespace, which leaves no file.
private func boundSocket(_ type: __socket_type, listening: Bool) throws -> CInt {
    let descriptor = socket(AF_UNIX, CInt(type.rawValue), 0)
    var family = sockaddr(sa_family: sa_family_t(AF_UNIX), sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    try #require(bind(descriptor, &family, socklen_t(MemoryLayout<sa_family_t>.size)) == 0)
    if listening { try #require(listen(descriptor, 1) == 0) }
    return descriptor
}
