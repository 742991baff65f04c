/// Puts a name in place of Chuck Norris.
enum Personalisation {
    private static let hero = Array("chuck norris".utf8)

    /// Replaces `Chuck Norris` in any case of its letters, and nothing else: not half the name, not with a line break.
    static func replacingName(in text: String, by name: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if matches(bytes[index...]) {
                result += name.utf8
                index += hero.count
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func matches(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.count >= hero.count && zip(bytes, hero).allSatisfy { lowercased($0) == $1 }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
    }
}
