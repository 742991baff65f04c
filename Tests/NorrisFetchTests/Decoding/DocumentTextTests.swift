import Testing

@testable import NorrisFetch

struct DocumentTextTests {
    private func text(_ bytes: [UInt8], type: String? = nil) -> String {
        var document = bytes
        convertToText(&document, contentType: type)
        return String(decoding: document, as: UTF8.self)
    }

    private func utf16(_ text: String, isBigEndian: Bool) -> [UInt8] {
        text.utf16.flatMap { unit in
            let bytes = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
            return isBigEndian ? bytes : bytes.reversed()
        }
    }

    private func declared(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
        Array("<?xml version='1.0' encoding='\(name)'?><a>".utf8) + bytes + Array("</a>".utf8)
    }

    @Test func utf8IsTheDefault() {
        #expect(text(Array("<a>Grüße ☃</a>".utf8)) == "<a>Grüße ☃</a>")
        #expect(text([0xEF, 0xBB, 0xBF] + Array("{\"ü\"}".utf8)) == "{\"ü\"}")
        #expect(text([]) == "")
    }

    @Test(arguments: [true, false]) func utf16IsSeenByItsBytes(isBigEndian: Bool) {
        let document = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><a>Grüße 😀</a>"
        let bytes = utf16(document, isBigEndian: isBigEndian)
        #expect(text(bytes) == document)
        #expect(text((isBigEndian ? [0xFE, 0xFF] : [0xFF, 0xFE]) + bytes) == document)
        // A missing byte, and half of a surrogate pair.
        #expect(text(Array(bytes.dropLast())) == String(document.dropLast()))
        let half = Array(bytes.prefix(bytes.count - 10))
        #expect(text(half).hasSuffix("\u{FFFD}"))
    }

    @Test(
        arguments: [
            ("ISO-8859-1", [0xFC], "ü"), ("iso-8859-1", [0x93, 0x94], "“”"), ("windows-1252", [0x80, 0x99], "€™"),
            ("ISO-8859-15", [0xA4], "€"), ("windows-1251", [0xCF, 0xF0], "Пр"), ("KOI8-R", [0xF0, 0xD2], "Пр"),
            ("Shift_JIS", [0x82, 0xA0], "あ"), ("EUC-JP", [0xA4, 0xA2], "あ"), ("gb2312", [0xC4, 0xE3], "你"),
            ("big5", [0xA7, 0x41], "你"), ("EUC-KR", [0xB0, 0xA1], "가"), ("us-ascii", [0xFC], "ü"),
            ("x-sjis", [0x82, 0xA0], "あ"), ("ks_c_5601-1987", [0xB0, 0xA1], "가"), ("l9", [0xA4], "€"),
            ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x24, 0x22, 0x1B, 0x28, 0x42], "あ"),
            // Some programs declare the encoding of their strings in memory, but send UTF-8.
            ("utf-16", [0xC3, 0xBC], "ü"),
        ] as [(String, [UInt8], String)]
    )
    func encodingsByTheirNames(name: String, bytes: [UInt8], expected: String) {
        #expect(text(declared(name, bytes)).contains("<a>\(expected)</a>"))
        let plain = Array("<a>".utf8) + bytes + Array("</a>".utf8)
        #expect(text(plain, type: "text/xml; charset=\(name)") == "<a>\(expected)</a>")
    }

    @Test func theContentTypePrecedesTheDeclaration() {
        let bytes = declared("windows-1251", [0xF0, 0xD2])
        #expect(text(bytes, type: "application/rss+xml; charset=\"KOI8-R\"").contains("<a>Пр</a>"))
        // An empty or unknown charset is ignored, and so is one in which the bytes are not valid.
        for type in [
            "application/rss+xml", "text/xml; charset=; x=y", "text/xml; Charset=martian", "text/xml; charset=utf-8",
        ] {
            #expect(text(bytes, type: type).contains("<a>рТ</a>"), "\(type)")
        }
    }

    @Test func theBytesPrecedeEverything() {
        let bytes = declared("ISO-8859-1", Array("ü".utf8))
        #expect(text(bytes, type: "text/xml; charset=iso-8859-1").contains("<a>ü</a>"))
        #expect(text([0xEF, 0xBB, 0xBF] + bytes, type: "text/xml; charset=koi8-r").contains("<a>ü</a>"))
        // The declaration may have line breaks.
        #expect(text(Array("<?xml version='1.0'\r\nencoding = 'koi8-r'?>".utf8) + [0xF0, 0xD2]).hasSuffix("Пр"))
    }

    @Test(arguments: ["martian", "//TRANSLIT", "UTF-7", "ISO-2022-CN-EXT", "../../x", "utf-8//", ""])
    func anotherEncodingIsTheDefault(name: String) {
        #expect(text(declared(name, Array("ü+AOk-".utf8))).contains("<a>ü+AOk-</a>"))
        #expect(text(declared(name, [0x93, 0xFC, 0x81])).contains("<a>“ü\u{FFFD}</a>"))
    }

    @Test func bytesThatAreNoCharactersCostOnlyThemselves() {
        let umlauts = String(repeating: "ü", count: 20)
        #expect(
            text(Array("<a>\(umlauts)".utf8) + [0xFF, 0xC3] + Array("y</a>".utf8))
                == "<a>\(umlauts)\u{FFFD}\u{FFFD}y</a>")
        // The end of the document cuts off a character.
        #expect(text(Array("ü".utf8) + [0xC3]) == "ü\u{FFFD}")
        #expect(text([0x82, 0xA0, 0x82], type: "text/xml;charset=Shift_JIS") == "あ\u{FFFD}")
    }

    @Test func controlsAreLeftOut() {
        #expect(text(Array("<a>x\u{0}\u{8}y\u{1B}\tz\r\n</a>".utf8)) == "<a>xy\tz\r\n</a>")
    }
}
