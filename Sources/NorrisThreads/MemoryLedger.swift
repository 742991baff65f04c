import Synchronization

/// Limits the memory that peers make the daemon allocate: 96 MiB in two accounts with own limits.
///
/// An owner takes memory from an account before it allocates, and returns the memory when it frees. If an account is
/// full, only its owners wait or refuse.
package final class MemoryLedger: Sendable {
    package enum Account: Int, CaseIterable, Sendable {
        /// Incomplete request lines.
        case input
        /// Replies that are being written or that peers have not read yet.
        case replies

        /// In bytes.
        fileprivate var limit: Int {
            switch self {
            case .input: 32 << 20
            case .replies: 64 << 20
            }
        }
    }

    /// The ledger of this process.
    package static let shared = MemoryLedger()

    private let limits: [Int]
    private let used: [2 of Atomic<Int>] = InlineArray { _ in Atomic(0) }

    /// - Parameter limits: in bytes, for tests; the other accounts keep their usual limits.
    package init(limits: [Account: Int] = [:]) {
        self.limits = Account.allCases.map { limits[$0] ?? $0.limit }
    }

    /// The limit of an account, in bytes.
    package func limit(of account: Account) -> Int { limits[account.rawValue] }

    /// The memory taken from an account, in bytes.
    package func used(of account: Account) -> Int { used[account.rawValue].load(ordering: .relaxed) }

    /// Takes memory from an account.
    ///
    /// - Returns: false if the memory exceeds the limit; nothing is taken then.
    package func take(_ bytes: Int, from account: Account) -> Bool {
        let total = used[account.rawValue].wrappingAdd(bytes, ordering: .relaxed).newValue
        if total <= limits[account.rawValue] { return true }
        add(-bytes, to: account)
        return false
    }

    /// Counts memory that is already allocated, or returns memory if the number is negative.
    package func add(_ bytes: Int, to account: Account) {
        used[account.rawValue].wrappingAdd(bytes, ordering: .relaxed)
    }
}
