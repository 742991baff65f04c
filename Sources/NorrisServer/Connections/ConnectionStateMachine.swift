import NorrisProtocol

/// What a connection does next: pure decisions over bytes, time and the peer's pace, without a socket.
///
/// The ``EventLoop`` reports what happened and then calls ``next()`` until that says to wait. One line is answered at a
/// time, so replies leave in the order of the requests. Times are nanoseconds of the monotonic clock.
struct ConnectionStateMachine {
    enum Action: Equatable {
        /// Answer this line, then call ``answered(waiting:)``.
        case answer(ArraySlice<UInt8>)
        /// Refuse a line that was too long to keep, then call ``answered(waiting:)``.
        case refuseLongLine
        /// Read on.
        case read
        /// Nothing to do until something is reported.
        case wait
        /// Send what is written, then close.
        case close
    }

    private enum Phase: Equatable {
        case open
        /// The peer sends no more: what it sent is answered, a last line without LF included.
        case inputEnded
        /// The daemon stops: what had come by then is answered, and a line that is not complete is dropped. So many
        /// bytes of it are still to be read.
        case draining(unread: Int)
        case closed
    }

    /// What a peer has not taken, and since when.
    private struct Backlog {
        /// How much was taken of all that was ever written.
        var taken: Int
        /// What the kernel holds for the peer, which takes it from there without our noticing.
        var queued: Int
        var since: Int
    }

    private var splitter = LineSplitter()
    private var phase = Phase.open
    private var isAnswering = false
    private(set) var isWritable = true
    private var lastActivity: Int
    private var written = 0
    /// nil while the peer keeps up.
    private var backlog: Backlog?
    private let idleTimeout: Int
    private let stallTimeout: Int

    init(now: Int, _ tuning: Server.Tuning = .contract) {
        lastActivity = now
        idleTimeout = tuning.idleTimeout.nanoseconds
        stallTimeout = tuning.stallTimeout.nanoseconds
    }

    /// Bytes of the peer arrived.
    mutating func received(_ bytes: UnsafeRawBufferPointer, now: Int) {
        guard phase != .closed else { return }
        lastActivity = now
        if case .draining(let unread) = phase { phase = .draining(unread: max(0, unread - bytes.count)) }
        splitter.append(bytes)
    }

    /// The peer will send no more.
    mutating func inputEnded() {
        switch phase {
        case .open, .draining: phase = .inputEnded
        case .inputEnded, .closed: break
        }
    }

    /// Whether the channel takes more replies.
    mutating func writabilityChanged(_ isWritable: Bool) { self.isWritable = isWritable }

    /// A line was answered, or its answer is deferred and ``answerArrived(now:)`` will follow.
    mutating func answered(waiting: Bool) { isAnswering = waiting }

    /// So many bytes of replies were handed to the channel.
    mutating func wrote(_ count: Int) { written += count }

    /// The deferred answer is written.
    mutating func answerArrived(now: Int) {
        isAnswering = false
        lastActivity = now
    }

    /// The daemon stops.
    ///
    /// - Parameter unread: how many bytes have come that were not read yet. What comes later is not waited for, or a
    ///   peer that keeps sending would never let the daemon stop.
    mutating func drain(unread: Int) {
        if phase == .open { phase = .draining(unread: unread) }
    }

    /// The socket is gone.
    mutating func closed() { phase = .closed }

    /// What to do now; called again after every action but ``Action/wait`` and ``Action/read``.
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

    /// Whether an event may be written now: between replies, for a peer that takes what it is sent.
    var takesEvents: Bool { !isAnswering && isWritable && phase != .closed }

    /// Whether more of the peer's bytes may be read now.
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
    ///   - isSubscriber: whether the peer waits for events, for which it need not say anything.
    ///   - unsentBytes: what the kernel has not taken yet of all that was written.
    ///   - queuedBytes: what the kernel holds and the peer has not taken, in any measure that only falls as it reads.
    /// - Returns: whether the connection is to be closed.
    mutating func hasExpired(now: Int, isSubscriber: Bool, unsentBytes: Int, queuedBytes: Int) -> Bool {
        guard unsentBytes > 0 else {
            // It has just taken the rest of a long reply, which is activity.
            if backlog != nil { lastActivity = now }
            backlog = nil
            return !isAnswering && !isSubscriber && now - lastActivity >= idleTimeout
        }
        // The number of unsent bytes alone would not do: it may be the same again when a reply was taken and the next
        // one written.
        let taken = written - unsentBytes
        guard let backlog, taken == backlog.taken, queuedBytes >= backlog.queued else {
            backlog = Backlog(taken: taken, queued: queuedBytes, since: now)
            return false
        }
        return now - backlog.since >= stallTimeout
    }

    /// When ``hasExpired(now:isSubscriber:unsentBytes:queuedBytes:)`` may become true at the earliest.
    func nextCheck(now: Int, isSubscriber: Bool) -> Int {
        if let backlog { return backlog.since + stallTimeout }
        return (isAnswering || isSubscriber ? now : lastActivity) + idleTimeout
    }

    /// How much memory the input takes, in bytes. A line that is being answered is a part of it.
    var inputCapacity: Int { splitter.capacity }

    /// The memory of the input while it holds nothing, so that idle connections share what a few need. A line that is
    /// being answered still has its bytes there.
    mutating func takeInputStorage() -> [UInt8]? { isAnswering ? nil : splitter.takeStorage() }

    /// Gives back what memory of the input the rest of a line does not need.
    mutating func shrinkInput() {
        if !isAnswering { splitter.shrink() }
    }

    /// Forgets the input of a connection that is closed.
    mutating func dropInput() {
        phase = .closed
        splitter = LineSplitter()
    }

    mutating func lendInputStorage(_ storage: inout [UInt8]) { splitter.lendStorage(&storage) }

    /// Since when the peer has taken nothing; nil for one that keeps up.
    var stalledSince: Int? { backlog?.since }

    private func action(for line: LineSplitter.Line) -> Action {
        switch line {
        case .line(let bytes): .answer(bytes)
        case .tooLong: .refuseLongLine
        }
    }
}
