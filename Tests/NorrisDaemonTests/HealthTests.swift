import Foundation
import Glibc
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

struct RequestMinutesTests {
    private var minutes = RequestMinutes()

    private mutating func expect(_ looks: (seconds: Int, total: Int, counts: [Int])...) {
        for look in looks {
            #expect(minutes.counts(at: .seconds(look.seconds), total: look.total) == look.counts, "\(look)")
        }
    }

    @Test mutating func eachMinuteHasItsOwnAndTheLastIsTheCurrentOne() {
        expect((0, 0, [0]), (59, 5, [5]), (60, 7, [7, 0]), (61, 8, [7, 1]), (119, 10, [7, 3]), (120, 10, [7, 3, 0]))
    }

    @Test mutating func minutesNobodyLookedAtAreEmpty() {
        expect((30, 2, [2]), (250, 9, [9, 0, 0, 0, 0]), (251, 10, [9, 0, 0, 0, 1]))
    }

    @Test mutating func sixtyAreKnown() {
        var total = 0
        for minute in 1...200 {
            total += minute
            _ = minutes.counts(at: .seconds(minute * 60), total: total)
        }
        expect((200 * 60, total + 1, Array(142...200) + [1]))
        // The machine was suspended for a year.
        let zeros = Array(repeating: 0, count: 59)
        expect((365 * 86_400, total + 4, zeros + [0]), (365 * 86_400, total + 5, zeros + [1]))
    }

    @Test mutating func aClockThatGoesBackChangesNothing() {
        expect((60, 3, [3, 0]), (-60, 4, [3, 1]), (60, 4, [3, 1]))
    }
}

struct FetchLineTests {
    @Test func whatRunsIsNamed() {
        let now = Timestamp.ofTests
        #expect(Health.fetchLine(running: ["facts"], next: now, now: now) == "fetching facts")
        #expect(Health.fetchLine(running: ["facts", "town"], next: nil, now: now) == "fetching facts, town")
        #expect(Health.fetchLine(running: [], next: nil, now: now) == "")
    }

    /// In a separate process, because the test sets the time zone.
    @Test func timesAreLocalAndHaveADayWhereItIsNotClear() async {
        await #expect(processExitsWith: .success) {
            setenv("TZ", "Asia/Kolkata", 1)
            let now = try #require(Timestamp("2026-11-22T23:00:00Z"))
            func text(_ next: String) -> String { Health.fetchLine(running: [], next: Timestamp(next), now: now) }
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
    @Test func foldersAreAbsolute() throws {
        #expect(CurrentProcess.currentDirectory.hasPrefix("/"))
        #expect(try #require(CurrentProcess.accountHome).hasPrefix("/"))
    }

    @Test func theMachineIsIdentifiedByTheFileOrElseByTheHostsName() throws {
        let folder = TemporaryFolder()
        let file = try folder.write("0123456789abcdef0123456789abcdef\n", to: "machine-id")
        #expect(CurrentProcess.machineID(file: file) == "0123456789abcdef0123456789abcdef\n")
        let name = CurrentProcess.machineID(file: folder("none"))
        #expect(!name.isEmpty && ProcessInfo.processInfo.hostName.hasPrefix(name))
        #expect(CurrentProcess.machineID(file: try folder.write("", to: "empty")) == name)
    }

    @Test func theMemoryIsThatOfThisProcess() throws {
        let memory = try #require(CurrentProcess.residentMemory())
        #expect(memory > 1 << 20 && memory < 1 << 40)
        #expect(CurrentProcess.residentMemory(file: "/nowhere") == nil)
        #expect(CurrentProcess.residentMemory(file: "/dev/null") == nil)
    }

    /// In a separate process without other tests that map code.
    @Test func mappedCodeIsReleased() async {
        await #expect(processExitsWith: .success) {
            let before = try #require(CurrentProcess.residentMemory())
            CurrentProcess.releaseMappedCode(file: "/dev/null")
            CurrentProcess.releaseMappedCode(file: "/no/such/file")
            CurrentProcess.releaseMappedCode()
            #expect(try #require(CurrentProcess.residentMemory()) < before - 1_000_000)
        }
    }
}
