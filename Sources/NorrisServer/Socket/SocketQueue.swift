import Glibc
import NIOCore

/// What the kernel holds for the two sides of a stream socket. What cannot be known, as of a closed one, counts as
/// nothing.
struct SocketQueue {
    private let descriptor: CInt

    init(of context: ChannelHandlerContext) {
        let descriptor = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { $0 }
        self.descriptor = descriptor ?? -1
    }

    /// How many bytes have come that were not read yet (ioctl FIONREAD, unix(7)).
    var bytesToRead: Int {
        count(0x541B)
    }

    /// The memory of what was sent and the peer has not read yet (ioctl TIOCOUTQ): somewhat more than its bytes.
    var bytesQueued: Int {
        count(0x5411)
    }

    /// Whether the peer will send no more, all that is still to be read left aside.
    var hasEnded: Bool {
        // POLLRDHUP of poll(2), which the C library shows to GNU sources only.
        let readingSideHungUp: Int16 = 0x2000
        var entry = pollfd(fd: descriptor, events: readingSideHungUp, revents: 0)
        return poll(&entry, 1, 0) == 1 && entry.revents & readingSideHungUp != 0
    }

    /// - Parameter request: of asm-generic/ioctls.h, macros that Swift does not import.
    private func count(_ request: UInt) -> Int {
        var count: CInt = 0
        return ioctl(descriptor, request, &count) == 0 ? Int(count) : 0
    }
}
