import NorrisSystem
import Synchronization

/// Memory that is taken from an account of the ledger, and given back when the lease is deinitialized.
final class MemoryLease: Sendable {
    private let account: MemoryLedger.Account
    private let ledger: MemoryLedger
    private let onRelease: @Sendable () -> Void
    private let taken = Atomic(0)

    /// - Parameter onRelease: called after memory was given back, on any thread.
    init(
        _ account: MemoryLedger.Account, of ledger: MemoryLedger = .shared,
        onRelease: @escaping @Sendable () -> Void = {}
    ) { (self.account, self.ledger, self.onRelease) = (account, ledger, onRelease) }

    deinit {
        ledger.add(-bytes, to: account)
        onRelease()
    }

    /// The bytes that the lease has now.
    var bytes: Int { taken.load(ordering: .relaxed) }

    /// Takes so many bytes more.
    ///
    /// - Parameter reserve: bytes of the account that must stay free for others.
    /// - Returns: false if the bytes do not fit; then nothing is taken.
    func grow(by count: Int, leaving reserve: Int = 0) -> Bool {
        guard ledger.used(of: account) + count <= ledger.limit(of: account) - reserve, ledger.take(count, from: account)
        else { return false }
        taken.wrappingAdd(count, ordering: .relaxed)
        return true
    }

    /// Takes so many bytes more, whether or not the bytes fit.
    func force(_ count: Int) {
        ledger.add(count, to: account)
        taken.wrappingAdd(count, ordering: .relaxed)
    }

    /// Gives back all but so many bytes.
    func shrink(to count: Int) {
        let excess = bytes - count
        guard excess > 0 else { return }
        ledger.add(-excess, to: account)
        taken.wrappingSubtract(excess, ordering: .relaxed)
        onRelease()
    }
}

/// The memory of a decoded value. Equal always: values with the same content are equal whatever is counted for them.
struct CountedMemory: Sendable, Equatable {
    var lease: MemoryLease?

    static func == (left: CountedMemory, right: CountedMemory) -> Bool { true }
}

/// About what the heap needs for texts, in bytes: nothing for a text of at most 15 bytes.
func heapBytes(_ texts: [String]) -> Int {
    texts.reduce(0) { $0 + MemoryLayout<String>.stride + ($1.utf8.count > 15 ? $1.utf8.count + 32 : 0) }
}
