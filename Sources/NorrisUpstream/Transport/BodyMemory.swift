import NorrisThreads

/// Divides the memory for response bodies among all transfers. Used on the fetch thread only.
///
/// A small body takes memory as it grows. A large body takes all its remaining memory at once, so that no two bodies
/// wait for each other; until then its transfer is paused. If a small body gets none, the longest waiting transfer
/// ends.
final class BodyMemory {
    /// The largest body that counts as small, in bytes.
    static let maximumSmall = 1 << 20
    /// The memory that large bodies leave to small bodies, in bytes.
    private static let smallReserve = 8 << 20
    /// The initial memory of a body, in bytes.
    private static let first = 64 << 10

    private let ledger: MemoryLedger
    /// The paused transfers, in the order in which they began to wait.
    private(set) var waiting: [Transfer] = []

    init(ledger: MemoryLedger) { self.ledger = ledger }

    /// A lease without memory. When a lease returns memory, the fetch thread tries to continue paused transfers.
    func lease() -> MemoryLease { MemoryLease(.bodies, of: ledger) { FetchThread.shared.wake() } }

    enum Decision {
        case granted(capacity: Int)
        case wait
        case refused
    }

    /// Takes memory so that a body may have `count` bytes, and at most `whole` bytes in the end.
    func take(_ count: Int, of whole: Int, for lease: MemoryLease) -> Decision {
        if count <= Self.maximumSmall {
            // Doubled, because an array that grows is copied.
            let capacity = min(max(count, 2 * lease.bytes, Self.first), max(whole, count), Self.maximumSmall)
            while !lease.grow(by: capacity - lease.bytes) {
                guard !waiting.isEmpty else { return .refused }
                waiting.removeFirst().refuse()
            }
            return .granted(capacity: capacity)
        }
        if lease.grow(by: whole - lease.bytes, leaving: Self.smallReserve) { return .granted(capacity: whole) }
        // A body whose configured limit exceeds the whole account takes its memory if no other large body exists.
        let isAlone = ledger.used(of: .bodies) - lease.bytes <= Self.smallReserve
        guard isAlone, whole > ledger.limit(of: .bodies) - Self.smallReserve - Self.maximumSmall else { return .wait }
        lease.force(whole - lease.bytes)
        return .granted(capacity: whole)
    }

    func add(_ transfer: Transfer) {
        if !waiting.contains(where: { $0 === transfer }) { waiting.append(transfer) }
    }

    func remove(_ transfer: Transfer) { waiting.removeAll { $0 === transfer } }
}
