import NorrisProtocol
import Synchronization

/// How many requests failed, by the reason they were given; those without an id, which get no reply, included.
///
/// The reasons are a closed set, so that nobody can make new ones by what they send.
final class ErrorCounts: Sendable {
    /// Those of the protocol; the last stands for any other.
    static let reasons = [
        "busy", "internal", "invalid_params", "invalid_request", "line_too_long", "not_found", "nothing_cached",
        "parse_error", "permission_denied", "shutting_down", "storage", "unknown_method", "other",
    ]

    private let counts: [13 of Atomic<Int>] = InlineArray { _ in Atomic(0) }

    func count(_ error: ResponseError) {
        let index = ErrorCounts.reasons.firstIndex(of: error.reason) ?? ErrorCounts.reasons.count - 1
        counts[index].add(1, ordering: .relaxed)
    }

    /// In the order of ``reasons``.
    var all: [(reason: String, count: Int)] {
        ErrorCounts.reasons.enumerated().map { ($1, counts[$0].load(ordering: .relaxed)) }
    }
}
