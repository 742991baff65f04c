import Synchronization

/// Counts the memory that peers and upstreams make the daemon hold, 192 MiB at most, by accounts with a limit each.
///
/// Each owner of such memory takes it from an account before it allocates, and gives it back when it frees. An account
/// that is full makes its owners wait or refuse; the others are not affected.
package final class MemoryLedger: Sendable {
    package enum Account: Int, CaseIterable, Sendable {
        /// Request lines that are not complete yet.
        case input
        /// Replies that are being made, or that peers do not take.
        case replies
        /// Bodies of upstreams' responses.
        case bodies
        /// The documents that are being decoded, and what is decoded of them.
        case decoding

        /// In bytes.
        fileprivate var limit: Int {
            switch self {
            case .input, .bodies: 32 << 20
            case .replies, .decoding: 64 << 20
            }
        }
    }

    /// The ledger of this process.
    package static let shared = MemoryLedger()

    private let limits: [Int]
    private let used: [4 of Atomic<Int>] = InlineArray { _ in Atomic(0) }

    /// - Parameter limits: in bytes, for tests; of any other account the usual one.
    package init(limits: [Account: Int] = [:]) {
        self.limits = Account.allCases.map { limits[$0] ?? $0.limit }
    }

    /// The bytes that an account may have.
    package func limit(of account: Account) -> Int { limits[account.rawValue] }

    /// The bytes that are taken from an account.
    package func used(of account: Account) -> Int { used[account.rawValue].load(ordering: .relaxed) }

    /// Takes memory from an account.
    ///
    /// - Returns: false if the memory does not fit; then nothing is taken.
    package func take(_ bytes: Int, from account: Account) -> Bool {
        let total = used[account.rawValue].wrappingAdd(bytes, ordering: .relaxed).newValue
        if total <= limits[account.rawValue] { return true }
        add(-bytes, to: account)
        return false
    }

    /// Counts memory that is there already, or gives memory back if the number is negative.
    package func add(_ bytes: Int, to account: Account) {
        used[account.rawValue].wrappingAdd(bytes, ordering: .relaxed)
    }
}
