import NorrisProtocol
import NorrisTerminal
import Testing

struct RelativeTimeTests {
    @Test(arguments: [
        (0, "just now"), (59, "just now"), (60, "1 minute ago"), (119, "1 minute ago"), (120, "2 minutes ago"),
        (3_599, "59 minutes ago"), (3_600, "1 hour ago"), (10_800, "3 hours ago"), (86_399, "23 hours ago"),
        (86_400, "1 day ago"), (30 * 86_400 - 1, "29 days ago"), (30 * 86_400, "1 month ago"),
        (365 * 86_400 - 1, "12 months ago"), (365 * 86_400, "1 year ago"), (6 * 365 * 86_400, "6 years ago"),
        (-1, "in a moment"), (-59, "in a moment"), (-60, "in 1 minute"), (-7_200, "in 2 hours"),
        (-400 * 86_400, "in 1 year"),
    ] as [(Int64, String)])
    func roundsDownToTheLargestUnit(seconds: Int64, text: String) {
        #expect(relativeTime(of: ago(seconds), at: now) == text)
    }

    @Test func survivesTheEndsOfTime() {
        let first = Timestamp(seconds: .min)
        let last = Timestamp(seconds: .max)
        #expect(relativeTime(of: first, at: last) == "292471208677 years ago")
        #expect(relativeTime(of: last, at: first) == "in 292471208677 years")
    }

    @Test(arguments: [
        (-5, "0 seconds"), (0, "0 seconds"), (1, "1 second"), (59, "59 seconds"), (60, "1 minute"),
        (61, "1 minute 1 second"), (3_600, "1 hour"), (3_659, "1 hour"), (3_660, "1 hour 1 minute"),
        (3 * 86_400 + 4 * 3_600 + 59, "3 days 4 hours"), (400 * 86_400, "400 days"),
    ])
    func writesDurationsInTheirTwoLargestUnits(seconds: Int, text: String) {
        #expect(durationText(seconds: seconds) == text)
    }
}
