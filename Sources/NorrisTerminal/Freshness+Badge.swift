import NorrisProtocol

extension Freshness {
    /// Where content came from: `from the cache, fetched 3 minutes ago`, `from the upstream, just now`.
    func badge(now: Timestamp) -> String {
        let age = fetchedAt.map { relativeTime(of: min($0, now), at: now) }
        return switch origin {
        case .upstream: "from the upstream" + (age.map { ", \($0)" } ?? "")
        case .builtin: "built in"
        case .none: "nothing stored"
        case .cache: "from the cache" + (age.map { ", fetched \($0)" } ?? "")
        default: "from \(origin.rawValue)" + (age.map { ", fetched \($0)" } ?? "")
        }
    }
}
