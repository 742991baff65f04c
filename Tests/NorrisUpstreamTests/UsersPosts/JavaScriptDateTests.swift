import NorrisProtocol
import Testing

@testable import NorrisUpstream

struct JavaScriptDateTests {
    @Test(
        arguments: [
            ("Tue Mar 08 2022 06:56:06 GMT-0500", "2022-03-08T11:56:06Z"),
            ("Tue Dec 14 2021 00:11:26 GMT-0500 (Colombia Standard Time)", "2021-12-14T05:11:26Z"),
            ("Tue Dec 14 2021 00:11:26 GMT-0500(Colombia (or so))", "2021-12-14T05:11:26Z"),
            ("Sat Feb 29 2020 23:59:59 GMT+0545 (Nepal Time)", "2020-02-29T18:14:59Z"),
            ("TUE MAR 08 2022 06:56:06 gmt+0000", "2022-03-08T06:56:06Z"),
            ("Wed Jan 01 2122 00:30:00 GMT+0100", "2121-12-31T23:30:00Z"),
            // The day of the week is wrong.
            ("Mon Mar 08 2022 06:56:06 GMT-0500", "2022-03-08T11:56:06Z"),
        ]
    )
    func theseAreDates(text: String, expected: String) {
        #expect(javaScriptDate(text)?.description == expected)
    }

    @Test(
        arguments: [
            "", "yesterday", "Invalid Date", "Tue Mar 08 2022 06:56:06", "Tue Mar 08 2022 06:56:06 GMT",
            "Tue Mar 08 2022 06:56:06 UTC-0500", "Tue Mar 08 2022 06:56:06 GMT-2400",
            "Tue Mar 08 2022 06:56:06 GMT-0560", "Tue Mar 08 2022 06:56:06 GMT-500",
            "Tue Mar 08 2022 24:00:00 GMT-0500", "Tue Mar 08 2022 06:60:06 GMT-0500",
            "Tue Mar 08 2022 06:56:60 GMT-0500", "Tue Mar 08 2022 6:56:06 GMT-0500", "Tue Mar 08 2022 06:56 GMT-0500",
            "Mon Feb 29 2021 06:56:06 GMT-0500", "Tue Mrz 08 2022 06:56:06 GMT-0500",
            "Die Mar 08 2022 06:56:06 GMT-0500", "Tue Mar 08 22 06:56:06 GMT-0500",
            "Tue Mar 08 +12022 06:56:06 GMT-0500", "Tue Mar +8 2022 06:56:06 GMT-0500",
            "Tue Mar 08 2022 06:56:06 GMT-0500 Colombia", "Tue Mar 08 2022 06:56:06 GMT-0500 (Colombia", "(x)",
            "2022-03-08T06:56:06-05:00",
        ]
    )
    func theseAreNone(text: String) {
        #expect(javaScriptDate(text) == nil)
    }
}
