import Foundation
import NorrisTestSupport
import Testing

@testable import NorrisCards

struct PNGWriterTests {
    private let pixels = (0..<7 * 6).map { UInt32(truncatingIfNeeded: $0 &* 0x1234_5677) & 0xFF_FFFF }

    private func png(bands: Int) throws -> [UInt8] {
        let writer = try PNGWriter(
            width: 7, height: 6, texts: [("Title", "Grüße"), ("Description", "a\u{1F680}"), ("Software", "norrisd")])
        for band in 0..<bands {
            let count = pixels.count / bands
            pixels[(band * count)..<((band + 1) * count)].withUnsafeBufferPointer { writer.append($0) }
        }
        return writer.finish()
    }

    @Test("A written picture can be read", arguments: [1, 2, 6]) func writesPixels(bands: Int) throws {
        let picture = try #require(Picture(png: png(bands: bands)))
        #expect(picture.width == 7 && picture.height == 6)
        #expect(picture.pixels == pixels)
    }

    /// python3-pil of Debian checks all checksums, lengths and the order of chunks.
    @Test func carriesTextsAndIsCorrectInAllChunks() throws {
        let folder = TemporaryFolder()
        try Data(png(bands: 2)).write(to: URL(fileURLWithPath: folder("a.png")))
        let script = """
            import sys
            from PIL import Image
            Image.open(sys.argv[1]).verify()
            image = Image.open(sys.argv[1])
            image.load()
            texts = "|".join(image.info[key] for key in ("Title", "Description", "Software"))
            print(image.mode, image.size, texts.encode("unicode_escape").decode(), image.info["srgb"],
                  round(image.info["dpi"][0]))
            """
        let result = try run("/usr/bin/python3", ["-c", script, folder("a.png")])
        #expect(result.errors == "")
        #expect(result.output == "RGB (7, 6) Gr\\xfc\\xdfe|a\\U0001f680|norrisd 0 300\n")
    }
}
