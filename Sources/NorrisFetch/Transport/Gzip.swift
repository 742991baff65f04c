import CZlib

/// The content of a document in gzip (RFC 1952) with one or more members; up to its fault if it is cut off.
///
/// - Returns: slightly more than `maximum` bytes if the content is longer.
func inflated(_ document: [UInt8], upTo maximum: Int) throws(UpstreamError) -> [UInt8] {
    var stream = z_stream()
    var status = z_begin_gzip(&stream)
    defer { inflateEnd(&stream) }
    var content: [UInt8] = []
    document.withUnsafeBufferPointer { input in
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64 << 10) { piece in
            // SAFETY: zlib reads its input only.
            stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.avail_in = UInt32(input.count)
            while status == Z_OK, content.count <= maximum {
                (stream.next_out, stream.avail_out) = (piece.baseAddress, UInt32(piece.count))
                status = inflate(&stream, Z_NO_FLUSH)
                content += piece[..<(piece.count - Int(stream.avail_out))]
                guard status == Z_STREAM_END else { continue }
                if isGzip(input[(input.count - Int(stream.avail_in))...]) { status = inflateReset(&stream) }
            }
        }
    }
    // Z_BUF_ERROR means that the input ended.
    guard [Z_OK, Z_STREAM_END, Z_BUF_ERROR].contains(status) else {
        throw .unusable("answered with compressed content that is damaged")
    }
    return content
}

/// Whether bytes begin as a member of gzip.
func isGzip(_ bytes: some Collection<UInt8>) -> Bool { bytes.starts(with: [0x1F, 0x8B, 8]) }
