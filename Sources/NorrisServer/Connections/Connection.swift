import CLinux
import Glibc
import NorrisProtocol

/// Who sends requests on a connection, and the events it has subscribed to.
package final class Caller: Sendable {
    package let peer: Peer
    package let subscription: Subscription
    let isAdministrator: @Sendable (Peer) -> Bool

    init(peer: Peer, subscription: Subscription, isAdministrator: @escaping @Sendable (Peer) -> Bool) {
        (self.peer, self.subscription, self.isAdministrator) = (peer, subscription, isAdministrator)
    }
}

/// How many bytes are held for a connection or a user.
struct Held: Equatable {
    /// Lines that are not complete, not answered yet, or wait for a disk or a network.
    var input = 0
    /// Replies that the peer does not take, or that are being made.
    var replies = 0
}

/// A connection on the event loop: its socket, what the state machine decides about it, and what is unsent.
struct Connection: ~Copyable {
    let id: ConnectionID
    let caller: Caller
    /// The number of its user in ``FairQueue``.
    let user: Int
    var machine: ConnectionStateMachine
    /// The line that is being answered, where that takes more than one turn.
    var unfinished: UnfinishedLine?
    /// What the kernel has not taken, from this offset on.
    private(set) var unsent: [UInt8] = []
    private var sent = 0
    /// What epoll(7) reports of the socket; nil where it does not look at it.
    var interest: UInt32? = EPOLLIN.rawValue
    /// Whether the socket may hold bytes that were not read.
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

    /// Input, replies and events that are held for the peer, in bytes.
    var held: Held {
        Held(
            input: machine.inputCapacity,
            replies: unsentBytes + (unfinished?.heldBytes ?? 0) + (hasEvents ? caller.subscription.heldBytes : 0))
    }

    /// ``held`` as the loop knows it.
    var counted = Held()
    /// Since when the input waits for the rest of a line.
    var inputSince = 0

    /// Forgets what is held for a peer that has gone.
    mutating func drop() {
        (unsent, sent) = ([], 0)
        unfinished?.drop()
        hasEvents = false
    }

    /// Sends bytes, or stores what the kernel does not take.
    ///
    /// - Returns: false where the peer has gone.
    mutating func send(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard unsent.isEmpty else {
            unsent += bytes
            return true
        }
        guard let taken = Connection.send(UnsafeRawBufferPointer(rebasing: bytes), to: descriptor) else { return false }
        if taken < bytes.count { unsent = Array(bytes.dropFirst(taken)) }
        return true
    }

    /// - Returns: false where the peer has gone.
    mutating func sendRest() -> Bool {
        let taken = unsent.withUnsafeBytes { bytes in
            Connection.send(UnsafeRawBufferPointer(rebasing: bytes[sent...]), to: descriptor)
        }
        guard let taken else { return false }
        sent += taken
        if sent == unsent.count { (unsent, sent) = ([], 0) }
        return true
    }

    /// How many bytes the kernel has taken; nil where the peer has gone.
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

    /// How many bytes have come that were not read yet (ioctl FIONREAD, unix(7)).
    var bytesToRead: Int { Connection.count(descriptor, 0x541B) }

    /// Reads what has come and forgets it: closing with bytes unread would tell the peer of a reset (unix(7)).
    static func discardInput(_ descriptor: CInt, using buffer: UnsafeMutableRawBufferPointer) {
        var unread = count(descriptor, 0x541B)
        while unread > 0 {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
            guard count > 0 else { break }
            unread -= count
        }
    }

    /// The memory of what was sent and the peer has not read yet (ioctl TIOCOUTQ): somewhat more than its bytes.
    var bytesQueued: Int { Connection.count(descriptor, 0x5411) }

    /// Whether the peer will send no more than what is still to be read.
    var hasPeerEnded: Bool {
        // POLLRDHUP of poll(2), which the C library shows to GNU sources only.
        let readingSideHungUp: Int16 = 0x2000
        var entry = pollfd(fd: descriptor, events: readingSideHungUp, revents: 0)
        return poll(&entry, 1, 0) == 1 && entry.revents & readingSideHungUp != 0
    }

    /// - Parameter request: of asm-generic/ioctls.h, macros that Swift does not import.
    static func count(_ descriptor: CInt, _ request: UInt) -> Int {
        var count: CInt = 0
        return ioctl(descriptor, request, &count) == 0 ? Int(count) : 0
    }
}
