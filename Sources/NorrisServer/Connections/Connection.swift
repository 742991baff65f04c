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

/// The memory of a connection or of a user, in bytes.
struct MemoryUse: Equatable {
    /// Lines that are incomplete, unanswered, or wait for a disk or a network.
    var input = 0
    /// Replies that the peer has not read, or that are being written.
    var replies = 0
}

/// A connection on the event loop: the socket, the input, the unsent replies, and the decisions about them.
///
/// The ``EventLoop`` reports what happened and then calls ``next()`` until the action is to wait. One line is answered
/// at a time, so replies have the order of the requests. Times are nanoseconds of the monotonic clock.
struct Connection: ~Copyable {
    enum Action {
        /// Write the lines of events.
        case write(events: [[UInt8]])
        case answer(ArraySlice<UInt8>)
        /// Continue the current line.
        case proceed(UnfinishedLine)
        /// Refuse a line that was too long to store.
        case refuseLongLine
        /// Read from the socket.
        case read
        /// Do nothing until something is reported.
        case wait
        /// Send the written replies, then close.
        case close
    }

    enum Phase: Equatable {
        case open
        /// The peer has ended its side. All received lines are answered, including a last line without LF.
        case inputEnded
        /// The daemon stops. All received lines are answered, and an incomplete line is dropped.
        /// - Parameter unread: the received bytes that are not read yet.
        case draining(unread: Int)
        /// All replies are written. The socket is closed when they are sent.
        case closed
        /// The socket is shut down, and a deferred request still runs. The connection counts until the request ends,
        /// because a peer could otherwise start any number of requests by reconnecting.
        case gone
    }

    /// The replies that a peer has not read, and the time since when.
    private struct Backlog {
        /// The bytes that the kernel has accepted.
        var accepted: Int
        /// The memory of the bytes in the kernel, which the peer reads without the daemon's notice.
        var queued: Int
        var since: Int
    }

    let id: ConnectionID
    let caller: Caller
    /// The index of the user in ``FairQueue``.
    let user: Int
    private let idleTimeout: Int
    private let stallTimeout: Int
    private(set) var phase = Phase.open
    /// The received bytes that are not answered yet.
    private var input = LineSplitter()
    /// The current line, if it takes more than one step.
    private(set) var unfinished: UnfinishedLine?
    /// The replies that the kernel has not accepted, from the offset `sent` on.
    var unsent: [UInt8] = []
    private var sent = 0
    /// The bytes of all replies that the kernel has accepted.
    var accepted = 0
    /// The time of the last received bytes or deferred reply.
    private var lastActivity: Int
    /// nil if the peer reads fast enough.
    private var backlog: Backlog?
    /// The events that epoll(7) reports for the socket; nil if epoll does not watch the socket.
    var interest: UInt32? = EPOLLIN.rawValue
    /// Whether the socket may have unread bytes.
    private var isReadable = false
    /// Whether events wait in the subscription.
    private(set) var hasEvents = false
    /// ``memory`` as counted by the loop.
    var counted = MemoryUse()

    init(id: ConnectionID, caller: Caller, user: Int, now: Int, _ tuning: Server.Tuning = .standard) {
        (self.id, self.caller, self.user, lastActivity) = (id, caller, user, now)
        (idleTimeout, stallTimeout) = (tuning.idleTimeout.nanoseconds, tuning.stallTimeout.nanoseconds)
    }

    /// The memory for input, replies and events of the peer, in bytes. Inlined, because a call copies the connection.
    @inline(__always) var memory: MemoryUse {
        MemoryUse(
            input: input.capacity,
            replies: unsentBytes + (unfinished?.heldBytes ?? 0) + (hasEvents ? caller.subscription.heldBytes : 0))
    }
}

// MARK: Decisions

extension Connection {
    /// Records that the socket may have unread bytes.
    mutating func inputArrived() { isReadable = true }

    /// Records that events wait in the subscription.
    mutating func eventsArrived() { hasEvents = true }

    /// Adds received bytes.
    mutating func received(_ bytes: UnsafeRawBufferPointer, now: Int) {
        guard phase != .closed else { return }
        lastActivity = now
        if case .draining(let unread) = phase { phase = .draining(unread: max(0, unread - bytes.count)) }
        input.append(bytes)
    }

    /// Records that the peer has ended its side.
    mutating func inputEnded() {
        switch phase {
        case .open, .draining: phase = .inputEnded
        case .inputEnded, .closed, .gone: break
        }
    }

    /// Begins a stop. Bytes that the peer sends later are not read, because a peer that keeps sending would otherwise
    /// prevent the stop. A peer that has ended its side is answered to its end.
    mutating func drain() {
        if phase == .open, !hasPeerEnded { phase = .draining(unread: bytesToRead) }
        isReadable = true
    }

    /// Stores the rest of the current line; nil if its reply is complete.
    @inline(__always) mutating func answered(rest: UnfinishedLine?, now: Int) {
        if unfinished != nil, rest == nil { lastActivity = now }
        unfinished = rest
    }

    /// Ends a connection whose input is refused, and frees the input.
    mutating func dropInput() {
        (phase, unfinished) = (.closed, nil)
        input = LineSplitter()
    }

    /// Frees the memory for a disconnected peer. The deferred request continues.
    mutating func drop() {
        phase = .gone
        (unsent, sent) = ([], 0)
        unfinished?.drop()
        hasEvents = false
    }

    /// Whether a line is being answered, or a reply is not sent, so that nothing else is answered or read.
    private var isBusy: Bool { unfinished != nil || unsentBytes > 0 }

    /// The deferred request of the current line.
    var waiting: DeferredRequest? { unfinished?.waiting }
    /// Inlined, as ``memory``.
    @inline(__always) var isWaiting: Bool { unfinished != nil && waiting != nil }

    /// The next action; called again after every action except ``Action/wait`` and ``Action/close``.
    @inline(__always) mutating func next() -> Action {
        guard phase != .closed else { return .close }
        if hasEvents {
            if !isBusy {
                hasEvents = false
                return .write(events: caller.subscription.removeAll())
            }
            caller.subscription.holdBack()
        }
        guard unsentBytes == 0 else { return .wait }
        if let unfinished { return unfinished.waiting == nil ? .proceed(unfinished) : .wait }
        if let line = input.next() { return action(for: line) }
        // epoll(7) reports more input.
        if wantsInput { return isReadable ? .read : .wait }
        if phase == .inputEnded, let line = input.finish() { return action(for: line) }
        phase = .closed
        return .close
    }

    private func action(for line: LineSplitter.Line) -> Action {
        switch line {
        case .line(let bytes): .answer(bytes)
        case .tooLong: .refuseLongLine
        }
    }

    /// Returns the memory of answered input for the next connection, or frees a part of it.
    ///
    /// - Parameter isDone: whether no further line can be answered.
    mutating func releaseInput(isDone: Bool, to spare: inout [UInt8]) {
        // The line that is being answered still needs its memory.
        guard unfinished == nil else { return }
        if let storage = input.takeStorage() {
            spare = storage
        } else if isDone {
            input.shrink()
        }
    }

    /// The events that epoll(7) should report. Interest in input is removed only when an unwanted event arrives, which
    /// saves most changes. Inlined, as ``memory``.
    @inline(__always) var wantedInterest: UInt32 {
        let input = wantsInput ? EPOLLIN.rawValue : (interest ?? 0) & EPOLLIN.rawValue
        return input | (unsentBytes > 0 ? EPOLLOUT.rawValue : 0)
    }

    /// Whether more bytes may be read now. Inlined, as ``memory``.
    @inline(__always) var wantsInput: Bool {
        switch phase {
        case .open: !isBusy
        case .draining(let unread): !isBusy && unread > 0
        case .inputEnded, .closed, .gone: false
        }
    }

    /// Checks the timeouts, about once a second.
    ///
    /// - Parameter queuedBytes: the bytes in the kernel that the peer has not read, in any measure that only decreases
    ///   as the peer reads.
    /// - Returns: whether to close the connection.
    mutating func hasExpired(now: Int, queuedBytes: Int) -> Bool {
        guard unsentBytes > 0 else {
            // The peer has just read the rest of a long reply, which is activity.
            if backlog != nil { lastActivity = now }
            backlog = nil
            return !mayBeSilent && now - lastActivity >= idleTimeout
        }
        // The number of unsent bytes does not suffice, because the number can be equal after the peer read one reply
        // and the next reply was written.
        guard let backlog, accepted == backlog.accepted, queuedBytes >= backlog.queued else {
            backlog = Backlog(accepted: accepted, queued: queuedBytes, since: now)
            return false
        }
        return now - backlog.since >= stallTimeout
    }

    /// The earliest time when ``hasExpired(now:queuedBytes:)`` can return true.
    func nextCheck(now: Int) -> Int {
        // A slow reader is checked as often as possible, because it may read something and then stop again.
        if unsentBytes > 0 { return now }
        return (mayBeSilent ? now : lastActivity) + idleTimeout
    }

    /// Whether the peer waits for a reply or for events.
    private var mayBeSilent: Bool { unfinished != nil || caller.subscription.isActive }

    /// The time since when the peer has read nothing; nil if the peer reads fast enough.
    var stalledSince: Int? { backlog?.since }
}

// MARK: The socket

extension Connection {
    private var descriptor: CInt { id.descriptor }

    var unsentBytes: Int { unsent.count - sent }

    /// Reads once. An error ends the connection.
    ///
    /// - Parameter spare: memory for the input, if the connection has none.
    mutating func receive(using buffer: UnsafeMutableRawBufferPointer, spare: inout [UInt8], now: Int) {
        isReadable = false
        let count = recv(descriptor, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
        if count > 0 {
            input.lendStorage(&spare)
            received(UnsafeRawBufferPointer(rebasing: buffer[..<count]), now: now)
        } else if count == 0 {
            inputEnded()
        } else if errno != EAGAIN, errno != EINTR {
            // The peer has disconnected; there is nothing to report or to store.
            phase = .closed
        }
    }

    /// Sends bytes, or stores the bytes that the kernel does not accept.
    ///
    /// - Returns: false if the peer has disconnected.
    mutating func send(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard unsent.isEmpty else {
            unsent += bytes
            return true
        }
        guard let count = Connection.send(UnsafeRawBufferPointer(rebasing: bytes), to: descriptor) else { return false }
        accepted += count
        if count < bytes.count { unsent = Array(bytes.dropFirst(count)) }
        return true
    }

    /// - Returns: false if the peer has disconnected.
    mutating func sendRest() -> Bool {
        let count = unsent.withUnsafeBytes { bytes in
            Connection.send(UnsafeRawBufferPointer(rebasing: bytes[sent...]), to: descriptor)
        }
        guard let count else { return false }
        accepted += count
        sent += count
        if sent == unsent.count { (unsent, sent) = ([], 0) }
        return true
    }

    /// Returns the number of bytes that the kernel has accepted; nil if the peer has disconnected.
    private static func send(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) -> Int? {
        var accepted = 0
        while accepted < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[accepted...])
            let count = Glibc.send(descriptor, rest.baseAddress, rest.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
            if count > 0 {
                accepted += count
            } else if errno == EAGAIN {
                break
            } else if errno != EINTR {
                return nil
            }
        }
        return accepted
    }

    /// The number of received and unread bytes (ioctl FIONREAD, unix(7)).
    private var bytesToRead: Int { Connection.count(descriptor, 0x541B) }

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
    private var hasPeerEnded: Bool {
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
