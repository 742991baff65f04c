import Glibc
import NorrisProtocol
import Testing

@testable import NorrisDaemon

/// What the line for `systemctl status` says of fetching.
struct FetchOutlookTests {
    @Test func whatRunsIsNamed() {
        let now = Timestamp(seconds: 1_000_000)
        #expect(Health.fetchLine(running: ["facts"], next: now, now: now) == "fetching facts")
        #expect(Health.fetchLine(running: ["facts", "town"], next: nil, now: now) == "fetching facts, town")
        #expect(Health.fetchLine(running: [], next: nil, now: now) == "")
    }

    /// In a process of its own, whose time zone may be set.
    @Test func timesAreLocalAndHaveADayWhereItIsNotClear() async {
        await #expect(processExitsWith: .success) {
            setenv("TZ", "Asia/Kolkata", 1)
            let now = try #require(Timestamp("2026-11-22T23:00:00Z"))
            func text(_ next: String) -> String {
                Health.fetchLine(running: [], next: Timestamp(next), now: now)
            }
            #expect(text("2026-11-23T08:35:59Z") == "next fetch 14:05")
            #expect(text("2026-11-23T22:59:59Z") == "next fetch 04:29")
            #expect(text("2026-11-23T23:00:00Z") == "next fetch 2026-11-24 04:30")
            // Due already, and waiting for its turn.
            #expect(text("2026-11-22T22:59:00Z") == "next fetch 04:29")
            setenv("TZ", "UTC", 1)
            #expect(text("2026-11-23T08:35:59Z") == "next fetch 08:35")
        }
    }
}
