import Foundation
import Glibc
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

struct FetchLineTests {
    /// In a separate process, because the test sets the time zone.
    @Test func timesAreLocalAndHaveADayWhereItIsNotClear() async {
        await #expect(processExitsWith: .success) {
            setenv("TZ", "Asia/Kolkata", 1)
            let now = try #require(Timestamp("2026-11-22T23:00:00Z"))
            func text(_ next: String) -> String { Health.fetchLine(running: [], next: Timestamp(next), now: now) }
            #expect(Health.fetchLine(running: ["facts", "town"], next: nil, now: now) == "fetching facts, town")
            #expect(text("2026-11-23T08:35:59Z") == "next fetch 14:05")
            #expect(text("2026-11-23T22:59:59Z") == "next fetch 04:29")
            #expect(text("2026-11-23T23:00:00Z") == "next fetch 2026-11-24 04:30")
            // The fetch is due, but waits for other fetches.
            #expect(text("2026-11-22T22:59:00Z") == "next fetch 04:29")
            setenv("TZ", "UTC", 1)
            #expect(text("2026-11-23T08:35:59Z") == "next fetch 08:35")
        }
    }
}

struct CurrentProcessTests {
    @Test func theMachineIsIdentifiedByTheFileOrElseByTheHostsName() throws {
        let folder = TemporaryFolder()
        let file = try folder.write("0123456789abcdef0123456789abcdef\n", to: "machine-id")
        #expect(CurrentProcess.machineID(file: file) == "0123456789abcdef0123456789abcdef\n")
        let name = CurrentProcess.machineID(file: folder("none"))
        #expect(!name.isEmpty && ProcessInfo.processInfo.hostName.hasPrefix(name))
        #expect(CurrentProcess.machineID(file: try folder.write("", to: "empty")) == name)
    }
}
