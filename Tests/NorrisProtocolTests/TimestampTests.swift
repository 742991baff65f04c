import NorrisProtocol
import NorrisTestSupport
import Testing

struct TimestampTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59Z", -1), ("2026-11-21T03:25:04Z", 1_795_231_504),
            ("2000-02-29T12:00:00Z", 951_825_600), ("2001-09-09T01:46:40Z", 1_000_000_000),
            ("2038-01-19T03:14:08Z", 2_147_483_648), ("1900-03-01T00:00:00Z", -2_203_891_200),
            ("0001-01-01T00:00:00Z", -62_135_596_800), ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] as [(String, Int64)])
    func readsAndWrites(text: String, seconds: Int64) throws {
        #expect(try #require(Timestamp(text)).seconds == seconds)
        #expect(Timestamp(seconds: seconds).description == text)
        #expect(Timestamp(seconds: seconds).jsonText == "\"\(text)\"")
        #expect(try Timestamp(json: .string(text)) == Timestamp(seconds: seconds))
    }

    @Test(arguments: [
        ("2026-11-21t03:25:04z", "2026-11-21T03:25:04Z"), ("2026-11-21T03:25:04.999999Z", "2026-11-21T03:25:04Z"),
        ("2026-11-21T03:25:04+02:00", "2026-11-21T01:25:04Z"), ("2026-11-21T23:25:04-05:30", "2026-11-22T04:55:04Z"),
        ("2026-01-01T00:00:00.5+00:01", "2025-12-31T23:59:00Z"), ("2026-11-21T03:25:04-00:00", "2026-11-21T03:25:04Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"), ("2016-12-31T15:59:60-08:00", "2017-01-01T00:00:00Z"),
    ]) func readsFractionsOffsetsAndLeapSeconds(text: String, normal: String) throws {
        #expect(try #require(Timestamp(text)).description == normal)
    }

    @Test(arguments: [
        "", "2026-11-21", "2026-11-21T03:25:04", "2026-11-21 03:25:04Z", "2026-11-21T03:25Z", "2026-11-21T3:25:04Z",
        "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-04-31T00:00:00Z", "2026-11-00T00:00:00Z", "0000-01-01T00:00:00Z", "2026-11-21T24:00:00Z",
        "2026-11-21T03:60:00Z", "2026-11-21T03:25:60Z", "2026-11-21T03:25:61Z", "2026-11-21T03:25:04.Z",
        "2026-11-21T03:25:04+24:00", "2026-11-21T03:25:04+02:60", "2026-11-21T03:25:04+0200", "2026-11-21T03:25:04ZZ",
        " 2026-11-21T03:25:04Z", "-026-11-21T03:25:04Z", "２026-11-21T03:25:04Z", "2026-11-21T03:25:04\u{2212}02:00",
    ]) func refusesWhatIsNoTime(text: String) { #expect(Timestamp(text) == nil) }

    @Test func writesOnlyWhatItCanRead() {
        #expect(Timestamp(seconds: .max).description == "9999-12-31T23:59:59Z")
        #expect(Timestamp(seconds: .min).description == "0001-01-01T00:00:00Z")
    }

    /// Clocks, databases and upstreams may supply any value.
    private static let extremes = [Int64.min, .min + 1, -62_135_596_801, -1, 0, 253_402_300_800, .max - 1, .max]

    @Test("No arithmetic with extreme times and durations ends the process", arguments: extremes, extremes)
    func arithmeticHasNoOverflow(seconds: Int64, other: Int64) throws {
        let (time, otherTime) = (Timestamp(seconds: seconds), Timestamp(seconds: other))
        let duration = Duration.seconds(other)
        for result in [time.advanced(by: duration), time - duration, time.past(otherTime)] {
            #expect(Timestamp(result.description) == result)
        }
        #expect(time.advanced(by: time.duration(to: otherTime)) == otherTime)
        #expect(time.advanced(by: .seconds(other) + .nanoseconds(1)) >= time.advanced(by: duration))
    }

    @Test("A day exists for every time, in any time zone", arguments: extremes) func localDays(seconds: Int64) {
        let day = Timestamp(seconds: seconds).localDay
        #expect(CivilDate(day.description) == day)
        #expect(!Timestamp(seconds: seconds).localText("%Y-%m-%d %H:%M").isEmpty)
    }
}

struct CivilDateTests {
    @Test(arguments: ["2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31", "2026-11-21"])
    func readsAndWrites(text: String) throws {
        let date = try #require(CivilDate(text))
        #expect(date.description == text)
        #expect(try CivilDate(json: .string(text)) == date)
        #expect(date.jsonText == "\"\(text)\"")
    }

    @Test(arguments: [
        "", "2023-02-29", "1900-02-29", "2026-04-31", "2026-13-01", "2026-00-10", "2026-01-00", "0000-01-01",
        "2026-1-1", "20261121", "2026-11-21Z", "2026/11/21", "+026-11-21", "12026-11-21", "2026-11-21 ",
    ]) func refusesWhatIsNoDay(text: String) {
        #expect(CivilDate(text) == nil)
        #expect(throws: JSONDecodingError.self) { try CivilDate(json: .string(text)) }
    }

    @Test func daysAreNumbered() throws {
        for (text, number) in [("0001-01-01", -719_162), ("1970-01-01", 0), ("2000-03-01", 11_017)] {
            #expect(CivilDate(text)?.dayNumber == number)
            #expect(CivilDate(dayNumber: number)?.description == text)
        }
        #expect(CivilDate(dayNumber: -719_163) == nil && CivilDate(dayNumber: .max) == nil)
    }
}
