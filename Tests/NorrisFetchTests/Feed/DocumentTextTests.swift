import Testing

@testable import NorrisFetch

struct DocumentTextTests {
    private func text(_ bytes: [UInt8], type: String? = nil) throws -> String {
        var document = bytes
        // Without a conversion, the document must be unchanged.
        if try !convertToText(&document, contentType: type) { #expect(document == bytes) }
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

    @Test func utf8IsTheDefault() throws {
        #expect(try text(Array("<a>Grüße ☃</a>".utf8)) == "<a>Grüße ☃</a>")
        #expect(try text([0xEF, 0xBB, 0xBF] + Array("{\"ü\"}".utf8)) == "{\"ü\"}")
        #expect(try text([]) == "")
    }

    @Test(arguments: [true, false]) func utf16IsSeenByItsBytes(isBigEndian: Bool) throws {
        let document = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><a>Grüße 😀</a>"
        let bytes = utf16(document, isBigEndian: isBigEndian)
        #expect(try text(bytes) == document)
        #expect(try text((isBigEndian ? [0xFE, 0xFF] : [0xFF, 0xFE]) + bytes) == document)
        // A missing byte, and half of a surrogate pair.
        #expect(try text(Array(bytes.dropLast())) == String(document.dropLast()))
        let half = Array(bytes.prefix(bytes.count - 10))
        #expect(try text(half).hasSuffix("\u{FFFD}"))
    }

    @Test(
        arguments: [
            ("ISO-8859-1", [0xFC], "ü"), ("iso-8859-1", [0x93, 0x94], "“”"), ("windows-1252", [0x80, 0x99], "€™"),
            ("ISO-8859-15", [0xA4], "€"), ("windows-1251", [0xCF, 0xF0], "Пр"), ("KOI8-R", [0xF0, 0xD2], "Пр"),
            ("Shift_JIS", [0x82, 0xA0], "あ"), ("EUC-JP", [0xA4, 0xA2], "あ"), ("gb2312", [0xC4, 0xE3], "你"),
            ("big5", [0xA7, 0x41], "你"), ("EUC-KR", [0xB0, 0xA1], "가"), ("us-ascii", [0xC3, 0xBC], "ü"),
            // Some programs declare the encoding of their strings in memory, but send UTF-8.
            ("utf-16", [0xC3, 0xBC], "ü"),
        ] as [(String, [UInt8], String)]
    )
    func encodingsByTheirNames(name: String, bytes: [UInt8], expected: String) throws {
        #expect(try text(declared(name, bytes)).contains("<a>\(expected)</a>"))
        let plain = Array("<a>".utf8) + bytes + Array("</a>".utf8)
        #expect(try text(plain, type: "text/xml; charset=\(name)") == "<a>\(expected)</a>")
    }

    @Test func theContentTypeWinsOverTheDeclaration() throws {
        let bytes = declared("ISO-8859-1", Array("ü".utf8))
        #expect(try text(bytes, type: "application/rss+xml; charset=\"UTF-8\"").contains("<a>ü</a>"))
        #expect(try text(bytes, type: "application/rss+xml").contains("<a>Ã¼</a>"))
        // An empty or unknown charset is ignored.
        #expect(try text(bytes, type: "text/xml; charset=; x=y").contains("<a>Ã¼</a>"))
        #expect(try text(bytes, type: "text/xml; Charset=martian").contains("<a>Ã¼</a>"))
    }

    @Test func theBytesWinOverEverything() throws {
        let bytes = [0xEF, 0xBB, 0xBF] + declared("ISO-8859-1", Array("ü".utf8))
        #expect(try text(bytes, type: "text/xml; charset=iso-8859-1").contains("<a>ü</a>"))
    }

    @Test(arguments: ["martian", "//TRANSLIT", "UTF-7", "ISO-2022-CN-EXT", "../../x", "utf-8//"])
    func otherEncodingsAreRefused(name: String) {
        #expect(fault(declared(name, []))?.contains("encoding \(name), which norrisd does not know") == true)
    }

    @Test func bytesThatAreNoCharactersCostOnlyThemselves() throws {
        #expect(try text(Array("<a>x".utf8) + [0xFF, 0xC3] + Array("y</a>".utf8)) == "<a>x\u{FFFD}\u{FFFD}y</a>")
        #expect(try text(declared("windows-1252", [0x81, 0x80])).contains("<a>\u{FFFD}€</a>"))
        #expect(try text(Array("x".utf8) + [0x82], type: "text/xml;charset=Shift_JIS") == "x\u{FFFD}")
    }

    @Test func controlsAreLeftOut() throws {
        #expect(try text(Array("<a>x\u{0}\u{8}y\u{1B}\tz\r\n</a>".utf8)) == "<a>xy\tz\r\n</a>")
    }

    @Test func largeDocumentsAreConvertedWhole() throws {
        let bytes = declared("windows-1252", [UInt8](repeating: 0x80, count: 300_000))
        #expect(try text(bytes).unicodeScalars.count { $0 == "€" } == 300_000)
    }

    @Test func declarationsMayStandBehindWhiteSpace() {
        let document = Array("\n\n <?xml version=\"1.0\"?><a/>".utf8)
        #expect(xmlDeclaration(document) == 3..<24)
        #expect(xmlDeclaration(Array("<?xml-stylesheet href='x'?><a/>".utf8)) == nil)
        #expect(xmlDeclaration(Array("<?xml version='1.0'".utf8)) == nil)
        #expect(xmlDeclaration(Array("<?xml".utf8)) == nil)
        #expect(xmlDeclaration([]) == nil)
    }
}
