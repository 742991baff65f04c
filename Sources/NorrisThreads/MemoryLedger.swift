import Synchronization

/// Counts the memory that peers make the daemon allocate, in two accounts with limits of 96 MiB together. The event
/// loop closes connections while an account exceeds its limit.
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

    /// The memory counted in an account, in bytes.
    package func used(of account: Account) -> Int { used[account.rawValue].load(ordering: .relaxed) }

    /// Adds allocated memory, or removes freed memory if the number is negative.
    package func add(_ bytes: Int, to account: Account) {
        used[account.rawValue].wrappingAdd(bytes, ordering: .relaxed)
    }
}
