/// How many requests came in each of the last minutes, by looks at how many there were in all.
///
/// What came between two looks counts for the minute of the first, so one look a minute, at its end, is enough.
struct RequestMinutes {
    /// How many minutes are known, the one under way counted.
    static let most = 60

    /// The minutes that are over, oldest first.
    private var past: [Int] = []
    /// The number of the minute under way.
    private var minute: Int64 = 0
    /// How many requests there were before it.
    private var before = 0

    /// - Parameters:
    ///   - uptime: since the count began.
    ///   - total: how many requests there were until now.
    /// - Returns: oldest minute first; the last one is under way.
    mutating func counts(at uptime: Duration, total: Int) -> [Int] {
        let now = uptime.components.seconds / 60
        if now > minute {
            past.append(total - before)
            past += repeatElement(0, count: Int(min(now - minute, Int64(RequestMinutes.most))) - 1)
            past.removeFirst(max(past.count - (RequestMinutes.most - 1), 0))
            minute = now
            before = total
        }
        return past + [total - before]
    }
}
