import Testing

@testable import NorrisCards

struct TiesTests {
    /// No-break spaces as `~`, word joiners as `+`.
    private func tied(_ text: String) -> String {
        String(withTies(text, language: language(of: text)).map { $0 == "\u{A0}" ? "~" : $0 == "\u{2060}" ? "+" : $0 })
    }

    @Test("A short last word is not left alone, nor the half of a word", arguments: [
        ("He looked at it.", "He looked at~it."),
        ("One two\nthree four five", "One two\nthree four~five"),
        ("A long last responsibility", "A long last responsibility"), ("He slept better.", "He slept~better."),
        ("It surrendered again.", "It surrendered again."), ("Two words", "Two words"),
        ("A three-way handshake", "A three-+way handshake"), ("- One", "- One"),
        ("A black-and-white-and-read-all-over paper.", "A black-and-white-and-read-all-over paper."),
        ("He learned C++ overnight.", "He learned C+++ overnight."),
        ("Word", "Word"),
        ("", ""),
    ])
    func tiesLastWords(text: String, expected: String) {
        #expect(tied(text) == expected)
    }

    @Test func breaksKoreanAtSpacesAndJapaneseBeforePhrases() {
        #expect(tied("무한대 두 번") == "무+한+대 두~번")
        #expect(tied("無限まで数えた。しかも二回") == "無+限+ま+で数+え+た。し+か+も+二+回")
        #expect(tied("查克数到了无穷大。") == "查克数到了无穷+大+。")
    }

    @Test func leavesAWayOutOfLongWords() {
        let kana = String(repeating: "あ", count: 30)
        #expect(tied(kana).filter { $0 == "+" }.count < 29)
    }
}
