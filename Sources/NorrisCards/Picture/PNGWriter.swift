import CPNG

/// Writes a PNG of 8 bits in each of red, green and blue with libpng, some rows at a time.
final class PNGWriter {
    private var bytes: [UInt8] = []
    private let width: Int
    private var picture: png_structp?
    private var info: png_infop?

    /// - Parameter texts: keywords of section 11.3.3.1 of <https://www.w3.org/TR/png-3/>, and their texts.
    init(width: Int, height: Int, texts: [(keyword: String, text: String)]) throws(CardError) {
        self.width = width
        bytes.reserveCapacity(width * height * 3 / 2)
        picture = png_create_write_struct(PNG_LIBPNG_VER_STRING, nil, { _, message in PNGWriter.fail(message) }, nil)
        info = png_create_info_struct(picture)
        guard picture != nil, info != nil else { throw .failed("libpng has no memory.") }
        // Not retained, because the structure exists no longer than the writer.
        png_set_write_fn(
            picture, Unmanaged.passUnretained(self).toOpaque(),
            { picture, data, count in
                // SAFETY: the pointer is the writer, as passed above, and `data` has `count` bytes.
                let writer = Unmanaged<PNGWriter>.fromOpaque(png_get_io_ptr(picture)!).takeUnretainedValue()
                writer.bytes += UnsafeBufferPointer(start: data, count: count)
            }, nil)
        png_set_IHDR(
            picture, info, UInt32(width), UInt32(height), 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
            PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT)
        png_set_sRGB(picture, info, PNG_sRGB_INTENT_PERCEPTUAL)
        // 300 dots an inch, in dots a metre.
        png_set_pHYs(picture, info, 11_811, 11_811, PNG_RESOLUTION_METER)
        // Noise contains no repetitions. Huffman codes without a search take half the time and a tenth more space.
        png_set_compression_strategy(picture, Z_HUFFMAN_ONLY)
        png_set_compression_buffer_size(picture, 65_536)
        // The differences between neighbors are small.
        png_set_filter(picture, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB)
        for (keyword, text) in texts { add(keyword, text) }
        png_write_info(picture, info)
        png_set_bgr(picture)
        png_set_filler(picture, 0, PNG_FILLER_AFTER)
    }

    deinit { png_destroy_write_struct(&picture, &info) }

    /// Adds a text, which libpng copies.
    private func add(_ keyword: String, _ text: String) {
        var keyword = Array(keyword.utf8CString)
        var text = Array(text.utf8CString)
        keyword.withUnsafeMutableBufferPointer { keyword in
            text.withUnsafeMutableBufferPointer { text in
                var entry = png_text()
                entry.compression = PNG_ITXT_COMPRESSION_NONE
                entry.key = keyword.baseAddress
                entry.text = text.baseAddress
                png_set_text(picture, info, &entry, 1)
            }
        }
    }

    /// Appends rows.
    ///
    /// - Parameter pixels: whole rows, each pixel 0x00RRGGBB.
    func append(_ pixels: UnsafeBufferPointer<UInt32>) {
        for start in stride(from: 0, to: pixels.count, by: width) {
            let row = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: pixels[start..<start + width]))
            png_write_row(picture, row.bindMemory(to: UInt8.self).baseAddress)
        }
    }

    /// Completes the picture.
    func finish() -> [UInt8] {
        png_write_end(picture, nil)
        return bytes
    }

    /// Ends the program, because libpng forbids a return, and a jump would leave objects of Swift.
    private static func fail(_ message: png_const_charp?) -> Never {
        let reason = message.map { String(cString: $0) } ?? "unknown"
        CardProgram.fail(.failed("libpng says: \(reason)."))
    }
}
