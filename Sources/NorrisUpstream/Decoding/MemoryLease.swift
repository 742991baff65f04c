import NorrisThreads
import Synchronization

/// Memory from an account of the ledger, returned when the lease is deinitialized.
final class MemoryLease: Sendable {
    private let account: MemoryLedger.Account
    private let ledger: MemoryLedger
    private let onRelease: @Sendable () -> Void
    private let taken = Atomic(0)

    /// - Parameter onRelease: called on any thread after memory was returned.
    init(
        _ account: MemoryLedger.Account, of ledger: MemoryLedger = .shared,
        onRelease: @escaping @Sendable () -> Void = {}
    ) { (self.account, self.ledger, self.onRelease) = (account, ledger, onRelease) }

    deinit {
        ledger.add(-bytes, to: account)
        onRelease()
    }

    var bytes: Int { taken.load(ordering: .relaxed) }

    /// Takes `count` more bytes if `reserve` bytes of the account stay free; otherwise takes none and returns false.
    func grow(by count: Int, leaving reserve: Int = 0) -> Bool {
        guard ledger.used(of: account) + count <= ledger.limit(of: account) - reserve, ledger.take(count, from: account)
        else { return false }
        taken.wrappingAdd(count, ordering: .relaxed)
        return true
    }

    /// Takes `count` more bytes, even if the account is full.
    func force(_ count: Int) {
        ledger.add(count, to: account)
        taken.wrappingAdd(count, ordering: .relaxed)
    }

    func shrink(to count: Int) {
        let excess = bytes - count
        guard excess > 0 else { return }
        ledger.add(-excess, to: account)
        taken.wrappingSubtract(excess, ordering: .relaxed)
        onRelease()
    }
}

/// The memory of a decoded value. All instances are equal, so that only the content of values is compared.
struct CountedMemory: Sendable, Equatable {
    var lease: MemoryLease?

    static func == (left: CountedMemory, right: CountedMemory) -> Bool { true }
}

/// The approximate heap memory of texts, in bytes. A text of at most 15 bytes needs no allocation.
func heapBytes(_ texts: [String]) -> Int {
    texts.reduce(0) { $0 + MemoryLayout<String>.stride + ($1.utf8.count > 15 ? $1.utf8.count + 32 : 0) }
}
