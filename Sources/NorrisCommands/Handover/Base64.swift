/// Bytes in base64 (RFC 4648, section 4), with its padding.
func base64(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let group = bytes[start..<min(start + 3, bytes.count)]
        let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
        for place in 0..<4 {
            text.append(place <= group.count ? digits[bits >> (18 - 6 * place) & 0x3F] : UInt8(ascii: "="))
        }
    }
    return String(decoding: text, as: UTF8.self)
}
