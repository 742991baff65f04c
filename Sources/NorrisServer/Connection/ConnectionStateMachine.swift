import NorrisProtocol

/// What a connection does next: pure decisions over bytes, time and the peer's pace, without a socket in sight.
///
/// The shell (``ConnectionHandler``) reports what happened and then asks ``next()`` until it says to wait. One line is
/// answered at a time, so replies leave in the order of the requests.
struct ConnectionStateMachine {
    typealias Instant = ContinuousClock.Instant

    /// How long a connection may rest.
    struct Patience: Equatable {
        /// Without a byte from the peer.
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
        /// See whether the kernel still holds bytes of this peer; if not, report ``inputEnded()``.
        case probeInput
        /// Nothing to do until something is reported.
        case wait
        /// Send what is written, then close.
        case close
    }

    private enum Phase: Equatable {
        case open
        /// The peer sends no more: what it sent is answered, a last line without LF included.
        case inputEnded
        /// The daemon stops: what was received is answered, and a line that is not complete is dropped.
        case draining
        case closed
    }

    private var splitter = LineSplitter()
    private var phase = Phase.open
    private var isAnswering = false
    private var isWritable = true
    private var lastInput: Instant
    /// The bytes the peer has not taken, and since when that number has not gone down.
    private var unsent = (bytes: 0, since: Instant?.none)
    private let patience: Patience

    init(now: Instant, patience: Patience = Patience()) {
        lastInput = now
        self.patience = patience
    }

    /// Bytes of the peer arrived.
    mutating func received(_ bytes: UnsafeRawBufferPointer, now: Instant) {
        guard phase != .closed else { return }
        lastInput = now
        splitter.append(bytes)
    }

    /// The peer will send no more; or, while draining, the kernel holds nothing more of it.
    mutating func inputEnded() {
        switch phase {
        case .open: phase = .inputEnded
        case .draining: phase = .closed
        case .inputEnded, .closed: break
        }
    }

    /// Whether the channel takes more replies.
    mutating func writabilityChanged(_ isWritable: Bool) {
        self.isWritable = isWritable
    }

    /// A line was answered, or its answer has to be waited for and ``answerArrived()`` will follow.
    mutating func answered(waiting: Bool) {
        isAnswering = waiting
    }

    /// The answer that was waited for is written.
    mutating func answerArrived(now: Instant) {
        isAnswering = false
        lastInput = now
    }

    /// The daemon stops.
    mutating func drain() {
        if phase == .open { phase = .draining }
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
        case .draining: return .probeInput
        case .inputEnded:
            if let line = splitter.finish() { return action(for: line) }
            phase = .closed
            return .close
        case .closed: return .close
        }
    }

    /// Whether more of the peer's bytes may be read now.
    var wantsInput: Bool {
        (phase == .open || phase == .draining) && !isAnswering && isWritable
    }

    /// Looks at the clock, about once a second.
    ///
    /// - Parameter unsentBytes: what the peer has not taken yet.
    /// - Returns: whether the connection has rested too long and is to be closed.
    mutating func hasExpired(now: Instant, unsentBytes: Int) -> Bool {
        guard unsentBytes > 0 else {
            unsent = (0, nil)
            return !isAnswering && lastInput.duration(to: now) >= patience.idle
        }
        guard let since = unsent.since, unsentBytes >= unsent.bytes else {
            unsent = (unsentBytes, now)
            return false
        }
        unsent.bytes = unsentBytes
        return since.duration(to: now) >= patience.stalled
    }

    /// Since when the peer has taken nothing; nil for one that keeps up.
    var stalledSince: Instant? {
        unsent.since
    }

    private func action(for line: LineSplitter.Line) -> Action {
        switch line {
        case .line(let bytes): .answer(bytes)
        case .tooLong: .refuseLongLine
        }
    }
}
