import CLinux
import Glibc
import NorrisProtocol

/// The sender of the requests on a connection, and its subscription.
package final class Caller: Sendable {
    package let peer: Peer
    package let subscription: Subscription
    let isAdministrator: @Sendable (Peer) -> Bool

    init(peer: Peer, subscription: Subscription, isAdministrator: @escaping @Sendable (Peer) -> Bool) {
        (self.peer, self.subscription, self.isAdministrator) = (peer, subscription, isAdministrator)
    }
}

/// The bytes in memory for a connection or a user.
struct Held: Equatable {
    /// Lines that are incomplete, unanswered, or wait for a disk or a network.
    var input = 0
    /// Replies that the peer has not read, or that are being written.
    var replies = 0
}

/// A connection on the event loop: the socket, the state machine and the unsent replies.
struct Connection: ~Copyable {
    let id: ConnectionID
    let caller: Caller
    /// The index of the user in ``FairQueue``.
    let user: Int
    var machine: ConnectionStateMachine
    /// The current line, if it takes more than one turn.
    var unfinished: UnfinishedLine?
    /// The replies that the kernel has not accepted, from the offset `sent` on.
    private(set) var unsent: [UInt8] = []
    private var sent = 0
    /// The events that epoll(7) reports for the socket; nil if epoll does not watch the socket.
    var interest: UInt32? = EPOLLIN.rawValue
    /// Whether the socket may have unread bytes.
    var isReadable = false
    /// Whether events wait in the subscription.
    var hasEvents = false
    enum State {
        case open
        /// The connection is closed when all replies are sent.
        case closing
        /// The socket is shut down, and a deferred request still runs. The connection counts until the request ends,
        /// because a peer could otherwise start any number of requests by reconnecting.
        case gone
    }

    var state = State.open

    private var descriptor: CInt { id.descriptor }

    init(id: ConnectionID, caller: Caller, user: Int, machine: ConnectionStateMachine) {
        (self.id, self.caller, self.user) = (id, caller, user)
        self.machine = machine
    }

    var unsentBytes: Int { unsent.count - sent }

    /// The memory for input, replies and events of the peer, in bytes.
    var held: Held {
        Held(
            input: machine.inputCapacity,
            replies: unsentBytes + (unfinished?.heldBytes ?? 0) + (hasEvents ? caller.subscription.heldBytes : 0))
    }

    /// ``held`` as counted by the loop.
    var counted = Held()
    /// The time since when the input waits for the rest of a line.
    var inputSince = 0

    /// Frees the memory for a disconnected peer.
    mutating func drop() {
        (unsent, sent) = ([], 0)
        unfinished?.drop()
        hasEvents = false
    }

    /// Sends bytes, or stores the bytes that the kernel does not accept.
    ///
    /// - Returns: false if the peer has disconnected.
    mutating func send(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard unsent.isEmpty else {
            unsent += bytes
            return true
        }
        guard let taken = Connection.send(UnsafeRawBufferPointer(rebasing: bytes), to: descriptor) else { return false }
        if taken < bytes.count { unsent = Array(bytes.dropFirst(taken)) }
        return true
    }

    /// - Returns: false if the peer has disconnected.
    mutating func sendRest() -> Bool {
        let taken = unsent.withUnsafeBytes { bytes in
            Connection.send(UnsafeRawBufferPointer(rebasing: bytes[sent...]), to: descriptor)
        }
        guard let taken else { return false }
        sent += taken
        if sent == unsent.count { (unsent, sent) = ([], 0) }
        return true
    }

    /// Returns the number of bytes that the kernel has accepted; nil if the peer has disconnected.
    private static func send(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) -> Int? {
        var taken = 0
        while taken < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[taken...])
            let count = Glibc.send(descriptor, rest.baseAddress, rest.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
            if count > 0 {
                taken += count
            } else if errno == EAGAIN {
                break
            } else if errno != EINTR {
                return nil
            }
        }
        return taken
    }

    /// The number of received and unread bytes (ioctl FIONREAD, unix(7)).
    var bytesToRead: Int { Connection.count(descriptor, 0x541B) }

    /// Reads and discards all received bytes, because closing a socket with unread bytes resets the connection
    /// (unix(7)).
    static func discardInput(_ descriptor: CInt, using buffer: UnsafeMutableRawBufferPointer) {
        var unread = count(descriptor, 0x541B)
        while unread > 0 {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
            guard count > 0 else { break }
            unread -= count
        }
    }

    /// The memory of sent bytes that the peer has not read (ioctl TIOCOUTQ), which is somewhat more than the bytes.
    var bytesQueued: Int { Connection.count(descriptor, 0x5411) }

    /// Whether the peer has shut down its sending side.
    var hasPeerEnded: Bool {
        // POLLRDHUP of poll(2), which the C library declares for GNU sources only.
        let readingSideHungUp: Int16 = 0x2000
        var entry = pollfd(fd: descriptor, events: readingSideHungUp, revents: 0)
        return poll(&entry, 1, 0) == 1 && entry.revents & readingSideHungUp != 0
    }

    /// - Parameter request: a macro of asm-generic/ioctls.h, which Swift does not import.
    static func count(_ descriptor: CInt, _ request: UInt) -> Int {
        var count: CInt = 0
        return ioctl(descriptor, request, &count) == 0 ? Int(count) : 0
    }
}
