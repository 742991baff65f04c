import NorrisProtocol

/// What a connection does next: pure decisions over bytes, time and the peer's pace, without a socket in sight.
///
/// The shell (``EventLoop``) reports what happened and then asks ``next()`` until it says to wait. One line is
/// answered at a time, so replies leave in the order of the requests.
struct ConnectionStateMachine {
    typealias Instant = ContinuousClock.Instant

    /// How long a connection may rest.
    struct Patience: Equatable {
        /// Without a byte in either direction.
        var idle: Duration = .seconds(300)
        /// With replies that the peer does not take.
        var stalled: Duration = .seconds(30)
    }

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
        /// What lies in the kernel for the peer, which takes it from there without our noticing.
        var queued: Int
        var since: Instant
    }

    private var splitter = LineSplitter()
    private var phase = Phase.open
    private var isAnswering = false
    private(set) var isWritable = true
    private var lastActivity: Instant
    private var written = 0
    /// nil while the peer keeps up.
    private var backlog: Backlog?
    private let patience: Patience

    init(now: Instant, patience: Patience = Patience()) {
        lastActivity = now
        self.patience = patience
    }

    /// Bytes of the peer arrived.
    mutating func received(_ bytes: UnsafeRawBufferPointer, now: Instant) {
        guard phase != .closed else { return }
        lastActivity = now
        if case .draining(let unread) = phase {
            phase = .draining(unread: max(0, unread - bytes.count))
        }
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
    mutating func writabilityChanged(_ isWritable: Bool) {
        self.isWritable = isWritable
    }

    /// A line was answered, or its answer has to be waited for and ``answerArrived(now:)`` will follow.
    mutating func answered(waiting: Bool) {
        isAnswering = waiting
    }

    /// So many bytes of replies were handed to the channel.
    mutating func wrote(_ count: Int) {
        written += count
    }

    /// The answer that was waited for is written.
    mutating func answerArrived(now: Instant) {
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
    mutating func closed() {
        phase = .closed
    }

    /// What to do now; asked again after every action but ``Action/wait`` and ``Action/read``.
    mutating func next() -> Action {
        guard phase != .closed else { return .close }
        guard !isAnswering, isWritable else { return .wait }
        if let line = splitter.next() { return action(for: line) }
        switch phase {
        case .open: return .read
        case .draining(let unread) where unread > 0: return .read
        case .inputEnded:
            if let line = splitter.finish() { return action(for: line) }
        case .draining, .closed: break
        }
        phase = .closed
        return .close
    }

    /// Whether a line that answers nothing may be written now: between replies, for a peer that takes what it is sent.
    var takesEvents: Bool {
        !isAnswering && isWritable && phase != .closed
    }

    /// Whether more of the peer's bytes may be read now.
    var wantsInput: Bool {
        guard !isAnswering, isWritable else { return false }
        switch phase {
        case .open: return true
        case .draining(let unread): return unread > 0
        case .inputEnded, .closed: return false
        }
    }

    /// Looks at the clock, about once a second.
    ///
    /// - Parameters:
    ///   - isSubscriber: whether the peer waits for events, for which it need not say anything.
    ///   - unsentBytes: what the kernel has not taken yet of all that was written.
    ///   - queuedBytes: what the kernel holds and the peer has not taken, in any measure that only falls as it reads.
    /// - Returns: whether the connection has rested too long and is to be closed.
    mutating func hasExpired(now: Instant, isSubscriber: Bool, unsentBytes: Int, queuedBytes: Int) -> Bool {
        guard unsentBytes > 0 else {
            // It has just taken the rest of a long reply, which is no rest.
            if backlog != nil { lastActivity = now }
            backlog = nil
            return !isAnswering && !isSubscriber && lastActivity.duration(to: now) >= patience.idle
        }
        // The number of unsent bytes alone would not do: it may be the same again when a reply was taken and the next
        // one written.
        let taken = written - unsentBytes
        guard let backlog, taken == backlog.taken, queuedBytes >= backlog.queued else {
            backlog = Backlog(taken: taken, queued: queuedBytes, since: now)
            return false
        }
        return backlog.since.duration(to: now) >= patience.stalled
    }

    /// When to ask ``hasExpired(now:isSubscriber:unsentBytes:queuedBytes:)`` again at the earliest.
    func nextLook(now: Instant, isSubscriber: Bool) -> Instant {
        if let backlog { return backlog.since.advanced(by: patience.stalled) }
        return (isAnswering || isSubscriber ? now : lastActivity).advanced(by: patience.idle)
    }

    /// The memory of the input while it holds nothing, so that connections that rest share what a few need.
    mutating func takeInputStorage() -> [UInt8]? { splitter.takeStorage() }

    mutating func lendInputStorage(_ storage: inout [UInt8]) { splitter.lendStorage(&storage) }

    /// Since when the peer has taken nothing; nil for one that keeps up.
    var stalledSince: Instant? {
        backlog?.since
    }

    private func action(for line: LineSplitter.Line) -> Action {
        switch line {
        case .line(let bytes): .answer(bytes)
        case .tooLong: .refuseLongLine
        }
    }
}
