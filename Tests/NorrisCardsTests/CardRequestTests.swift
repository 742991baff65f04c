import Testing

@testable import NorrisCards

struct CardRequestTests {
    @Test func readsOptions() throws {
        func card(_ size: Int, tags: Bool = true, isText: Bool = false) -> CardRequest {
            .card(size: size, showsTags: tags, isText: isText)
        }
        #expect(try CardRequest(arguments: []) == card(1080))
        #expect(try CardRequest(arguments: ["--size", "256", "--no-tags"]) == card(256, tags: false))
        #expect(try CardRequest(arguments: ["--size=300", "--size=4096"]) == card(4096))
        #expect(try CardRequest(arguments: ["--alt", "--size", "256"]) == card(256, isText: true))
        #expect(try CardRequest(arguments: ["--version", "--what"]) == .version)
        #expect(try CardRequest(arguments: ["--help"]) == .help)
        #expect(try CardRequest(arguments: ["-h"]) == .help)
    }

    @Test("A size that is none is refused", arguments: [
        "255", "4097", "0", "-1080", "1e3", "1080px", "", "99999999999999999999", "256.0", "\u{1B}[31m",
    ])
    func refusesSizes(size: String) {
        let error = #expect(throws: CardFailure.self) { try CardRequest(arguments: ["--size", size]) }
        #expect(error?.status == 64)
        #expect(error?.message?.contains("from 256 to 4096") == true)
        #expect(error?.message?.contains("\u{1B}") == false)
    }

    @Test("What is unknown is refused", arguments: [["--tags"], ["card.png"], ["--size"], ["-"], ["--alt=1"]])
    func refusesTheUnknown(arguments: [String]) {
        let error = #expect(throws: CardFailure.self) { try CardRequest(arguments: arguments) }
        #expect(error?.status == 64)
    }
}
