import CZlib

/// Writes a PNG of 8 bits in each of red, green and blue, some rows at a time (W3C Recommendation "Portable Network
/// Graphics (PNG) Specification", third edition, <https://www.w3.org/TR/png-3/>).
final class PNGWriter {
    private var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private let width: Int
    // Allocated separately, because zlib stores its address.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var filtered: [UInt8] = []

    /// - Parameter texts: keywords of section 11.3.3.1, and their texts.
    init(width: Int, height: Int, texts: [(keyword: String, text: String)]) throws(CardError) {
        self.width = width
        stream.initialize(to: z_stream())
        // Noise contains no repetitions. Huffman codes without a search take half the time and a tenth more space.
        let status = deflateInit2_(
            stream, 1, Z_DEFLATED, MAX_WBITS, MAX_MEM_LEVEL, Z_HUFFMAN_ONLY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { throw .failed("zlib has no memory.") }
        bytes.reserveCapacity(width * height * 3 / 2)
        // 8 bits a channel, color type 2: red, green and blue.
        chunk("IHDR") { $0 += bigEndian(width) + bigEndian(height) + [8, 2, 0, 0, 0] }
        // Rendering intent: perceptual.
        chunk("sRGB") { $0.append(0) }
        // 300 dots an inch, in dots a metre.
        chunk("pHYs") { $0 += bigEndian(11_811) + bigEndian(11_811) + [1] }
        for (keyword, text) in texts {
            // Not compressed, without a language and a translated keyword.
            chunk("iTXt") { $0 += Array(keyword.utf8) + [0, 0, 0, 0, 0] + Array(text.utf8) }
        }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Appends rows.
    ///
    /// - Parameter pixels: whole rows, each pixel 0x00RRGGBB.
    func append(_ pixels: UnsafeBufferPointer<UInt32>) {
        filter(pixels)
        chunk("IDAT") { bytes in
            filtered.withUnsafeMutableBufferPointer { input in
                stream.pointee.next_in = input.baseAddress
                stream.pointee.avail_in = UInt32(input.count)
                deflateAll(Z_NO_FLUSH, into: &bytes)
            }
        }
    }

    /// Completes the picture.
    func finish() -> [UInt8] {
        chunk("IDAT") { deflateAll(Z_FINISH, into: &$0) }
        chunk("IEND") { _ in }
        return bytes
    }

    /// Subtracts the previous pixel from every pixel (filter type 1, "Sub"), because the differences are small.
    private func filter(_ pixels: UnsafeBufferPointer<UInt32>) {
        let rows = pixels.count / width
        filtered = [UInt8](unsafeUninitializedCapacity: rows * (3 * width + 1)) { bytes, count in
            count = rows * (3 * width + 1)
            guard var source = pixels.baseAddress, var target = bytes.baseAddress else { return }
            for _ in 0..<rows {
                target[0] = 1
                target += 1
                var before: UInt32 = 0
                for _ in 0..<width {
                    let pixel = source.pointee
                    target[0] = UInt8(truncatingIfNeeded: (pixel >> 16) &- (before >> 16))
                    target[1] = UInt8(truncatingIfNeeded: (pixel >> 8) &- (before >> 8))
                    target[2] = UInt8(truncatingIfNeeded: pixel &- before)
                    before = pixel
                    source += 1
                    target += 3
                }
            }
        }
    }

    private func deflateAll(_ flush: Int32, into bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 65_536) { room in
            repeat {
                stream.pointee.next_out = room.baseAddress
                stream.pointee.avail_out = UInt32(room.count)
                // Fails only for misuse (zlib.h).
                deflate(stream, flush)
                bytes += room[..<(room.count - Int(stream.pointee.avail_out))]
            } while stream.pointee.avail_out == 0
        }
    }

    /// Appends a chunk: length, type, data, and the checksum of type and data.
    private func chunk(_ type: StaticString, _ addData: (inout [UInt8]) -> Void) {
        let start = bytes.count
        bytes += bigEndian(0)
        type.withUTF8Buffer { bytes += $0 }
        addData(&bytes)
        let length = bytes.count - start - 8
        bytes.replaceSubrange(start..<start + 4, with: bigEndian(length))
        let checksum = bytes.withUnsafeBufferPointer { bytes in
            // Not nil, because bytes were written.
            crc32(0, bytes.baseAddress! + start + 4, UInt32(length + 4))
        }
        bytes += bigEndian(Int(checksum))
    }

    private func bigEndian(_ value: Int) -> [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
