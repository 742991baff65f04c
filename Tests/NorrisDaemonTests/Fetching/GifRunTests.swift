import NorrisProtocol
import NorrisStore
import Testing

@testable import NorrisDaemon

struct GifRunTests {
    private let list = GifList.trending(rating: "g")
    private let time = Timestamp(seconds: 1_000)

    @Test func knowsWhatItHasFetchedUntilItEnds() {
        let run = GifRun()
        run.begin("a")
        #expect(!run.has(list, notBefore: time))
        run.note(list, at: time)
        run.begin("a")
        #expect(run.has(list, notBefore: time))
        #expect(!run.has(list, notBefore: Timestamp(seconds: 1_001)))
        #expect(!run.has(.trending(rating: "r"), notBefore: time))
        run.end()
        #expect(!run.has(list, notBefore: time))
    }

    @Test func beginsAnewWithOtherSettings() {
        let run = GifRun()
        run.begin("a")
        run.note(list, at: time)
        run.begin("b")
        #expect(!run.has(list, notBefore: time))
    }
}
