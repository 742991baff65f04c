import NorrisProtocol
import Testing

@testable import NorrisFetch

struct UpstreamDateTests {
    @Test(
        "The dates of mail and of RSS",
        arguments: [
            ("Sat, 21 Nov 2026 03:25:04 +0000", "2026-11-21T03:25:04Z"),
            ("Sat, 21 Nov 2026 03:25:04 GMT", "2026-11-21T03:25:04Z"),
            ("21 Nov 2026 03:25:04 +0100", "2026-11-21T02:25:04Z"),
            ("Sat, 21 Nov 2026 03:25:04 -0530", "2026-11-21T08:55:04Z"),
            ("Sat, 21 Nov 2026 03:25:04 +01:00", "2026-11-21T02:25:04Z"),
            ("Sat, 21 Nov 2026 03:25:04 GMT+0100", "2026-11-21T02:25:04Z"),
            ("Sat, 21 Nov 2026 03:25:04 +1", "2026-11-21T02:25:04Z"),
            ("Sat, 21 Nov 2026 03:25 GMT", "2026-11-21T03:25:00Z"),
            ("Sat, 21 Nov 2026 3:25:04 Z", "2026-11-21T03:25:04Z"),
            ("Sat, 21 Nov 2026 03:25:04", "2026-11-21T03:25:04Z"), ("Sat, 21 Nov 2026", "2026-11-21T00:00:00Z"),
            ("Sat,21 Nov 2026 03:25:04 EST", "2026-11-21T08:25:04Z"),
            ("Saturday, 1 November 2026 03:25:04 pdt", "2026-11-01T10:25:04Z"),
            ("Tue, 01 Sept 2026 03:25:04 CEST", "2026-09-01T01:25:04Z"),
            ("Sat, 21-Nov-2026 03:25:04 ACST", "2026-11-20T17:55:04Z"),
            ("Sat, 21 Nov 2026 03:25:04 CAT", "2026-11-21T01:25:04Z"),
            ("Sat, 21 Nov 2026 03:25:04 GST", "2026-11-20T23:25:04Z"),
            ("Sat, 21 Nov 2026 03:25:04 WAT", "2026-11-21T02:25:04Z"),
            ("Sat, 21 Nov 2026 03:25:04 WAST", "2026-11-21T01:25:04Z"),
            // A zone name with several meanings is read as UTC.
            ("Sat, 21 Nov 2026 03:25:04 EAST", "2026-11-21T03:25:04Z"),
            ("Sat, 21 Nov 2026 03:25:04 CCT", "2026-11-21T03:25:04Z"),
            ("Sat, 21 Nov 2026 03:25:04 NT", "2026-11-21T03:25:04Z"),
            ("  Sat,  21\n\tNov 2026  03:25:04 UT ", "2026-11-21T03:25:04Z"),
            ("Sat, 21 Nov 26 03:25:04 GMT", "2026-11-21T03:25:04Z"),
            ("Sun, 06 Nov 94 08:49:37 GMT", "1994-11-06T08:49:37Z"), ("06 Nov 94 08:49:37 GMT", "1994-11-06T08:49:37Z"),
            ("Sat, 21 Nov 2026 03:25:04 A", "2026-11-21T03:25:04Z"),
            ("Sat, 21 Nov 2026 03:25:04 XYZ", "2026-11-21T03:25:04Z"),
            ("Sat, 21 Nov 2026 03:25:04 +0100 (CET)", "2026-11-21T02:25:04Z"),
            ("Sat, 21 Nov 2026 23:59:60 GMT", "2026-11-22T00:00:00Z"),
            ("Sat, 21 Nov 2026 03:25:04.750 GMT", "2026-11-21T03:25:04Z"),
            // The day of the week is ignored, because feeds with a wrong day have correct dates.
            ("Mon, 21 Nov 2026 03:25:04 GMT", "2026-11-21T03:25:04Z"),
            ("Sa, 21 Nov 2026 03:25:04 GMT", "2026-11-21T03:25:04Z"),
            // The format of JavaScript.
            ("Tue Mar 08 2022 06:56:06 GMT-0500", "2022-03-08T11:56:06Z"),
            ("Tue Dec 14 2021 00:11:26 GMT-0500 (Colombia Standard Time)", "2021-12-14T05:11:26Z"),
            ("Tue Dec 14 2021 00:11:26 GMT-0500(Colombia (or so))", "2021-12-14T05:11:26Z"),
            ("Sat Feb 29 2020 23:59:59 GMT+0545 (Nepal Time)", "2020-02-29T18:14:59Z"),
            ("Wed Jan 01 2122 00:30:00 GMT+0100", "2121-12-31T23:30:00Z"),
            // The format of chucknorris.io and Giphy.
            ("2020-01-05 13:42:19.324003", "2020-01-05T13:42:19Z"),
        ]
    )
    func mailDates(text: String, expected: String) { #expect(UpstreamDate.parse(text)?.description == expected) }

    @Test(
        "The dates of Atom and JSON",
        arguments: [
            ("2026-11-21T03:25:04Z", "2026-11-21T03:25:04Z"), ("2026-11-21T03:25:04.123456Z", "2026-11-21T03:25:04Z"),
            ("2026-11-21T03:25:04+05:30", "2026-11-20T21:55:04Z"), ("2026-11-21T03:25:04-0800", "2026-11-21T11:25:04Z"),
            ("2026-11-21 03:25:04", "2026-11-21T03:25:04Z"), ("2026-11-21 03:25:04 +0100", "2026-11-21T02:25:04Z"),
            ("2026-11-21 03:25:04 UTC", "2026-11-21T03:25:04Z"), ("2026-11-21T03:25", "2026-11-21T03:25:00Z"),
            ("2026-11-21T03:25+01:00", "2026-11-21T02:25:00Z"), ("2026-11-21t03:25:04z", "2026-11-21T03:25:04Z"),
            ("2026-11-21", "2026-11-21T00:00:00Z"), ("\n 2026-11-21 \n", "2026-11-21T00:00:00Z"),
            ("2026-11-21T03:25:04EST", "2026-11-21T08:25:04Z"),
        ]
    )
    func isoDates(text: String, expected: String) { #expect(UpstreamDate.parse(text)?.description == expected) }

    @Test(arguments: [
        "", " ", "yesterday", "soon", "0000-00-00", "0000-00-00T00:00:00Z", "2026-02-30", "2026-13-01", "2026-11-21X",
        "2026-11-21T25:00:00Z", "2026-11-21T03:60:00Z", "2026-11-21T03:25:61Z", "2026-11-21T03:25:04+25:00",
        "2026-11-21T03", "2026-11-21T03:25:04+", "2026", "32 Jan 2026 00:00:00 GMT", "1 Foo 2026 00:00:00 GMT",
        "1 Ja 2026 00:00:00 GMT", "1 Jan 2026 24:00:00 GMT", "1 Jan 2026 noon", "1 Jan 2026 00:00:00 +aa00",
        "1 Jan 2026 00:00:00 +01:00:00", "1 Jan 2026 00:00:00 <b>", "20261121T03:25:04", "21 Nov 2026T03:25:04",
        "1 Jan ٢٠٢٦ 00:00:00 GMT", "Sat, , , ,", "Invalid Date", "Tue Mar 08 2022 24:00:00 GMT-0500",
        "Tue Mrz 08 2022 06:56:06 GMT-0500", "(((((", "1784604304", "-1", "99999999999999999999999999",
    ]) func nonsenseIsNoDate(text: String) { #expect(UpstreamDate.parse(text) == nil) }

    @Test func whatIsLongIsNotLookedAt() {
        #expect(UpstreamDate.parse(String(repeating: "(", count: 1_000_000)) == nil)
        #expect(UpstreamDate.parse("2026-11-21" + String(repeating: " ", count: 1000)) == nil)
    }
}
