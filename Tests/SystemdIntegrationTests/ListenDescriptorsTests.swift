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

    // Runs in a separate process, because it changes the environment. The end-to-end tests pass a socket, because
    // descriptor 3 of a test process belongs to its runtime.

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
