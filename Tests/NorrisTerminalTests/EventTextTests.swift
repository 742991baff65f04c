import NorrisProtocol
import NorrisTerminal
import Testing

struct EventTextTests {
    private static let offline = SourceFailure(kind: .offline, message: "No route.", since: ago(7_200))

    @Test("What happened, in a few words", arguments: [
        (Event.source("facts", .started, at: now), "started"),
        (.source("facts", .finished, items: 1, at: now), "finished: 1 item"),
        (.source("facts", .finished, at: now), "finished"),
        (.source("facts", .failed, error: offline, at: now), "failed: offline for 2 hours (No route)"),
        (.source("facts", .failed, at: now), "failed"),
        (.item(source: "facts", added: 1_200, at: now), "1,200 new"),
        (.server(.reloaded, at: now), "reloaded"),
        (.server(.degraded, at: now), "degraded"),
        (.source("facts", Event.Phase(rawValue: "resting"), at: now), "resting"),
    ])
    func words(_ event: Event, _ text: String) {
        #expect(event.summary == text)
    }

    @Test func coloursWhatIsWellAndWhatIsNot() {
        let text = visible(screen(80, escapes: true) { screen in
            screen.event(.source("facts", .finished, items: 2, at: now))
            screen.event(.server(.degraded, at: now))
        })
        #expect(text == """
            <2m12:00:00Z<0m  <1mfacts<0m     <32mfinished: 2 items<0m
            <2m12:00:00Z<0m  <1mnorrisd<0m   <33mdegraded<0m

            """)
    }

    @Test(arguments: [
        (0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"), (100_000, "100,000"), (-1_000, "-1,000"),
        (Int.min, "-9,223,372,036,854,775,808"),
    ])
    func digitsAreInGroups(number: Int, text: String) {
        #expect(groupedDigits(number) == text)
    }

    @Test func whatIsOverdueIsDueNow() {
        #expect(upcomingTime(of: ago(-300), at: now) == "in 5 minutes")
        #expect(upcomingTime(of: now, at: now) == "now")
        #expect(upcomingTime(of: ago(86_400), at: now) == "now")
    }
}
