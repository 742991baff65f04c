import Glibc

/// What the kernel holds for us on a socket.
enum SocketQueue {
    /// How many bytes a stream socket has received that were not read yet; 0 where that cannot be known.
    static func bytesWaiting(on descriptor: CInt) -> Int {
        var count: CInt = 0
        // FIONREAD of asm-generic/ioctls.h: a macro Swift does not import.
        guard ioctl(descriptor, UInt(0x541B), &count) == 0 else { return 0 }
        return Int(count)
    }
}
