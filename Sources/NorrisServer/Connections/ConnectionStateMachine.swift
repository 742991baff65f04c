import NorrisProtocol

/// The next action of a connection: pure decisions over bytes, time and the peer's pace, without a socket.
///
/// The ``EventLoop`` reports what happened and then calls ``next()`` until the action is to wait. One line is answered
/// at a time, so replies have the order of the requests. Times are nanoseconds of the monotonic clock.
struct ConnectionStateMachine {
    enum Action: Equatable {
        /// Answer the line, then call ``answered(waiting:)``.
        case answer(ArraySlice<UInt8>)
        /// Refuse a line that was too long to store, then call ``answered(waiting:)``.
        case refuseLongLine
        /// Read from the socket.
        case read
        /// Do nothing until something is reported.
        case wait
        /// Send the written replies, then close.
        case close
    }

    private enum Phase: Equatable {
        case open
        /// The peer has ended its side. All received lines are answered, including a last line without LF.
        case inputEnded
        /// The daemon stops. All received lines are answered, and an incomplete line is dropped.
        /// - Parameter unread: the received bytes that are not read yet.
        case draining(unread: Int)
        case closed
    }

    /// The replies that a peer has not read, and the time since when.
    private struct Backlog {
        /// The accepted bytes of all written replies.
        var taken: Int
        /// The memory of the bytes in the kernel, which the peer reads without the daemon's notice.
        var queued: Int
        var since: Int
    }

    private var splitter = LineSplitter()
    private var phase = Phase.open
    private var isAnswering = false
    private(set) var isWritable = true
    private var lastActivity: Int
    private var written = 0
    /// nil if the peer reads fast enough.
    private var backlog: Backlog?
    private let idleTimeout: Int
    private let stallTimeout: Int

    init(now: Int, _ tuning: Server.Tuning = .contract) {
        lastActivity = now
        idleTimeout = tuning.idleTimeout.nanoseconds
        stallTimeout = tuning.stallTimeout.nanoseconds
    }

    /// Adds received bytes.
    mutating func received(_ bytes: UnsafeRawBufferPointer, now: Int) {
        guard phase != .closed else { return }
        lastActivity = now
        if case .draining(let unread) = phase { phase = .draining(unread: max(0, unread - bytes.count)) }
        splitter.append(bytes)
    }

    /// Records that the peer has ended its side.
    mutating func inputEnded() {
        switch phase {
        case .open, .draining: phase = .inputEnded
        case .inputEnded, .closed: break
        }
    }

    /// Records whether the socket accepts more replies.
    mutating func writabilityChanged(_ isWritable: Bool) { self.isWritable = isWritable }

    /// Records that a line was answered, or that its reply is deferred and ``answerArrived(now:)`` follows.
    mutating func answered(waiting: Bool) { isAnswering = waiting }

    /// Records the number of bytes of replies that were passed to the socket.
    mutating func wrote(_ count: Int) { written += count }

    /// Records that the deferred reply was written.
    mutating func answerArrived(now: Int) {
        isAnswering = false
        lastActivity = now
    }

    /// Begins a stop.
    ///
    /// - Parameter unread: the received bytes that are not read yet. Later bytes are not read, because a peer that
    ///   keeps sending would otherwise prevent the stop.
    mutating func drain(unread: Int) {
        if phase == .open { phase = .draining(unread: unread) }
    }

    /// Records that the socket was closed.
    mutating func closed() { phase = .closed }

    /// The next action; called again after every action except ``Action/wait`` and ``Action/read``.
    mutating func next() -> Action {
        guard phase != .closed else { return .close }
        guard !isAnswering, isWritable else { return .wait }
        if let line = splitter.next() { return action(for: line) }
        switch phase {
        case .open: return .read
        case .draining(let unread) where unread > 0: return .read
        case .inputEnded: if let line = splitter.finish() { return action(for: line) }
        case .draining, .closed: break
        }
        phase = .closed
        return .close
    }

    /// Whether an event may be written now: between replies, if the peer reads fast enough.
    var takesEvents: Bool { !isAnswering && isWritable && phase != .closed }

    /// Whether more bytes may be read now.
    var wantsInput: Bool {
        guard !isAnswering, isWritable else { return false }
        switch phase {
        case .open: return true
        case .draining(let unread): return unread > 0
        case .inputEnded, .closed: return false
        }
    }

    /// Checks the timeouts, about once a second.
    ///
    /// - Parameters:
    ///   - isSubscriber: whether the peer waits for events and therefore may be silent.
    ///   - unsentBytes: the bytes of all written replies that the kernel has not accepted.
    ///   - queuedBytes: the bytes in the kernel that the peer has not read, in any measure that only decreases as the
    ///     peer reads.
    /// - Returns: whether to close the connection.
    mutating func hasExpired(now: Int, isSubscriber: Bool, unsentBytes: Int, queuedBytes: Int) -> Bool {
        guard unsentBytes > 0 else {
            // The peer has just read the rest of a long reply, which is activity.
            if backlog != nil { lastActivity = now }
            backlog = nil
            return !isAnswering && !isSubscriber && now - lastActivity >= idleTimeout
        }
        // The number of unsent bytes does not suffice, because the number can be equal after the peer read one reply
        // and the next reply was written.
        let taken = written - unsentBytes
        guard let backlog, taken == backlog.taken, queuedBytes >= backlog.queued else {
            backlog = Backlog(taken: taken, queued: queuedBytes, since: now)
            return false
        }
        return now - backlog.since >= stallTimeout
    }

    /// The earliest time when ``hasExpired(now:isSubscriber:unsentBytes:queuedBytes:)`` can return true.
    func nextCheck(now: Int, isSubscriber: Bool) -> Int {
        if let backlog { return backlog.since + stallTimeout }
        return (isAnswering || isSubscriber ? now : lastActivity) + idleTimeout
    }

    /// The memory of the input in bytes, including the line that is being answered.
    var inputCapacity: Int { splitter.capacity }

    /// Returns the memory of empty input, so that idle connections share the memory that a few need. The line that is
    /// being answered still needs its memory.
    mutating func takeInputStorage() -> [UInt8]? { isAnswering ? nil : splitter.takeStorage() }

    /// Frees memory that the incomplete line does not need.
    mutating func shrinkInput() {
        if !isAnswering { splitter.shrink() }
    }

    /// Frees the input of a closed connection.
    mutating func dropInput() {
        phase = .closed
        splitter = LineSplitter()
    }

    mutating func lendInputStorage(_ storage: inout [UInt8]) { splitter.lendStorage(&storage) }

    /// The time since when the peer has read nothing; nil if the peer reads fast enough.
    var stalledSince: Int? { backlog?.since }

    private func action(for line: LineSplitter.Line) -> Action {
        switch line {
        case .line(let bytes): .answer(bytes)
        case .tooLong: .refuseLongLine
        }
    }
}
