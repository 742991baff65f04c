import NorrisText
import Testing

struct RightToLeftTests {
    @Test(arguments: ["عربي", "a שלום", "\u{FB1D}", "\u{FE8D}", "\u{10900}", "\u{1E900}"])
    func seesLettersFromRightToLeft(text: String) {
        #expect(containsRightToLeft(text))
    }

    @Test(arguments: ["", "plain", "Žluťoučký кůň", "地球👩‍💻", "…·●", "ՀայԵրեն", "हिन्दी"])
    func passesOverAllOthers(text: String) {
        #expect(!containsRightToLeft(text))
    }
}
