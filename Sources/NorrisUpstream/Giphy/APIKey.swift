/// A key that belongs into requests and must not be seen anywhere else.
struct APIKey: Sendable {
    let value: String
    private let bytes: [UInt8]

    init(_ value: String) {
        self.value = value
        bytes = Array(value.utf8)
    }

    /// Whether the key stands in a text. A key of a few letters, which no real one is, stands in any.
    func isHeld(in text: String) -> Bool {
        if bytes.count < 8 { return false }
        let text = Array(text.utf8)
        return text.indices.contains { match(text[$0...]).matched == bytes.count }
    }

    /// The text with `***` for the key. The beginning of the key counts as well, from eight bytes on: the text may have
    /// been cut.
    func redacted(_ text: String) -> String {
        if bytes.isEmpty { return text }
        let enough = min(bytes.count, 8)
        var rest = Array(text.utf8)[...]
        var result: [UInt8] = []
        while let first = rest.first {
            let (matched, end) = match(rest)
            if matched >= enough {
                result += "***".utf8
                rest = rest[end...]
            } else {
                result.append(first)
                rest.removeFirst()
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// How many bytes of the key a text begins with, in large or small letters, each as it is or percent-encoded, and
    /// where they end.
    private func match(_ text: ArraySlice<UInt8>) -> (matched: Int, end: Int) {
        var rest = text
        var matched = 0
        while matched < bytes.count, let byte = rest.first {
            if lowercased(byte) == lowercased(bytes[matched]) {
                rest.removeFirst()
            } else if let decoded = decoded(rest.prefix(3)), lowercased(decoded) == lowercased(bytes[matched]) {
                rest.removeFirst(3)
            } else {
                break
            }
            matched += 1
        }
        return (matched, rest.startIndex)
    }

    private func decoded(_ bytes: ArraySlice<UInt8>) -> UInt8? {
        guard bytes.count == 3, bytes.first == UInt8(ascii: "%") else { return nil }
        return UInt8(String(decoding: bytes.dropFirst(), as: UTF8.self), radix: 16)
    }

    private func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

extension APIKey: CustomStringConvertible, CustomDebugStringConvertible {
    var description: String { "***" }
    var debugDescription: String { description }
}
