import Glibc
import NorrisProtocol

/// How replies are sent, and how much is held for peers that do not take them.
extension EventLoop {
    /// Sends the replies that were made.
    mutating func flush() {
        guard !replies.isEmpty else { return }
        var start = 0
        for (slot, end, isLast) in replies {
            send(start..<end, to: slot, isLast)
            start = end
        }
        replies.removeAll(keepingCapacity: true)
        if json.count > EventLoop.keptCapacity {
            json = JSONWriter(capacity: EventLoop.keptCapacity)
        } else {
            json.removeAll()
        }
    }

    /// - Parameter isLast: whether the connection is closed behind them.
    private mutating func send(_ range: Range<Int>, to slot: Int, _ isLast: Bool) {
        // It may have been closed as the slowest of all.
        guard let c = connections[slot], !c.pointee.isGone else { return }
        c.pointee.machine.wrote(range.count)
        let isAlive = json.withBytes(from: range.lowerBound) { c.pointee.send($0[..<range.count]) }
        let unsent = c.pointee.unsentBytes
        count(c)
        guard isAlive, unsent > 0 || !isLast else { return remove(slot) }
        guard unsent > 0 else { return }
        c.pointee.isClosing = isLast
        c.pointee.machine.writabilityChanged(false)
        updateInterest(c)
        scheduleTick(at: now)
        closeSlowest(for: 0)
    }

    /// The kernel takes more of what is unsent.
    mutating func sendRest(_ slot: Int) {
        guard let c = connections[slot], c.pointee.unsentBytes > 0 else { return }
        guard c.pointee.sendRest() else { return remove(slot) }
        count(c)
        guard c.pointee.unsentBytes == 0 else { return }
        if c.pointee.isClosing { return remove(slot) }
        c.pointee.machine.writabilityChanged(true)
        turns.add(slot, of: c.pointee.user)
    }

    /// Notes how much is held for a connection now.
    mutating func count(_ c: UnsafeMutablePointer<Connection>) {
        let held = c.pointee.heldBytes
        heldBytes += held - c.pointee.counted
        c.pointee.counted = held
    }

    /// Closes the slowest readers until so many bytes more may be held: those that stand still longest first, and among
    /// equals those for which most is held. Replies that are being made count too.
    mutating func closeSlowest(for bytes: Int) {
        let reserved = (disk.running + network.running) * EventLoop.reserveForReply
        while heldBytes + reserved + bytes > tuning.maximumUnsent {
            var slowest: (slot: Int, since: Int, bytes: Int)?
            for slot in connections.indices {
                guard let c = connections[slot], c.pointee.counted > 0 else { continue }
                let candidate = (slot, c.pointee.machine.stalledSince ?? now, c.pointee.counted)
                if slowest.map({ (candidate.1, $0.bytes) < ($0.since, candidate.2) }) ?? true { slowest = candidate }
            }
            // What is running alone fits.
            guard let slowest else { return }
            remove(slowest.slot)
        }
    }
}
