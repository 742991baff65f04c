import NorrisText
import Testing

struct CaseFoldingTests {
    @Test(
        "Texts that differ in case alone fold to the same",
        arguments: [
            ("Chuck NORRIS 42", "chuck norris 42"), ("STRASSE", "straße"), ("GROẞ", "groß"), ("ΟΔΥΣΣΕΎΣ", "οδυσσεύς"),
            ("σ", "ς"), ("É", "é"), ("E\u{301}", "e\u{301}"), ("ÀÇÑØŽ", "àçñøž"), ("ЖУК", "жук"), ("ﬁn", "FIN"),
            ("ǅ", "ǆ"), ("I", "ı"), ("\u{10400}", "\u{10428}"), ("ՈՒ", "ու"),
        ])
    func foldsCase(one: String, other: String) {
        #expect(scalars(caseFolded(one)) == scalars(caseFolded(other)))
    }

    @Test(
        "The folded form is pinned, for it is stored",
        arguments: [
            ("Straße", "strasse"), ("ὈΔΥΣΣΕΎΣ", "ὀδυσσεύσ"), ("İ", "i\u{307}"), ("ı", "i"), ("É", "é"),
            ("E\u{301}", "e\u{301}"), ("日本語 ＡＢＣ 한국어", "日本語 ａｂｃ 한국어"), ("👍🏽", "👍🏽"), ("", ""),
        ])
    func folded(text: String, expected: String) {
        #expect(scalars(caseFolded(text)) == scalars(expected))
    }

    @Test func everyLetterFoldsAsItsOtherCases() {
        var wrong: [Unicode.Scalar] = []
        for value in UInt32(0)...0x1FFFF {
            guard let letter = Unicode.Scalar(value), letter.properties.changesWhenCaseMapped else { continue }
            let folded = scalars(caseFolded(String(letter)))
            let cases = [
                letter.properties.lowercaseMapping, letter.properties.titlecaseMapping,
                letter.properties.uppercaseMapping, String(String.UnicodeScalarView(folded)),
            ]
            if cases.contains(where: { scalars(caseFolded($0)) != folded }) {
                wrong.append(letter)
            }
        }
        #expect(wrong.isEmpty)
    }
}
