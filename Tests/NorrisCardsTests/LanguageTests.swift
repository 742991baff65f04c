import Testing

@testable import NorrisCards

struct LanguageTests {
    @Test("Han characters are those of the country whose script stands beside them", arguments: [
        ("Chuck", "en"), ("骨", "zh-cn"), ("骨の", "ja"), ("骨 한", "ko"), ("ﾁｬｯｸ", "ja"), ("عدّ", "en"), ("🚀", "en"),
    ])
    func findsTheLanguage(text: String, expected: String) {
        #expect(language(of: text) == expected)
    }

    @Test("The first letter decides on the direction", arguments: [
        ("Chuck שלום", false), ("שלום Chuck", true), ("123. عدّ", true), ("\"(שלום", true), ("123", false),
        ("🚀", false),
    ])
    func findsTheDirection(text: String, expected: Bool) {
        #expect(isRightToLeft(text) == expected)
    }
}
