import Glibc

/// An encoding of the web that norrisd reads (<https://encoding.spec.whatwg.org/#names-and-labels>).
///
/// A closed list: whatever else iconv(3) knows is code that nobody needs to reach with bytes from outside.
enum Charset: Equatable {
    /// Also what calls itself ASCII, or UTF-16 in bytes that are not.
    case utf8
    /// By its name for iconv(3).
    case other(String)

    /// Nil for a label that is not known; its case does not matter.
    init?(_ label: String) {
        let label = label.lowercased()
        if ["utf-8", "utf8", "us-ascii", "ascii", "utf-16", "utf-16le", "utf-16be"].contains(label) {
            self = .utf8
        } else if let name = Self.named[label] {
            self = .other(name)
        } else {
            return nil
        }
    }

    private static let named: [String: String] = {
        // Pages that say Latin-1 mean the encoding of Windows, which has letters where Latin-1 has controls.
        var named = [
            "iso-8859-1": "CP1252", "iso8859-1": "CP1252", "latin1": "CP1252", "iso-8859-9": "CP1254",
            "koi8-r": "KOI8-R", "koi8-u": "KOI8-U", "macintosh": "MACINTOSH", "ibm866": "IBM866", "cp866": "IBM866",
            "tis-620": "TIS-620", "gbk": "GBK", "gb2312": "GBK", "gb18030": "GB18030", "big5": "BIG5",
            "shift_jis": "CP932", "shift-jis": "CP932", "sjis": "CP932", "windows-31j": "CP932", "euc-jp": "EUC-JP",
            "euc-kr": "EUC-KR",
        ]
        for part in [2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16] { named["iso-8859-\(part)"] = "ISO-8859-\(part)" }
        for page in 1250...1258 {
            named["windows-\(page)"] = "CP\(page)"
            named["cp\(page)"] = "CP\(page)"
        }
        return named
    }()
}

/// Bytes of an encoding as UTF-8, with U+FFFD for each byte that is no character in it.
func converted(
    _ bytes: [UInt8], from name: String, _ budget: DecodingBudget
) throws(UnusableBody) -> [UInt8] {
    let converter = iconv_open("UTF-8", name)
    // What iconv_open(3) returns for an error is (iconv_t) -1.
    guard let converter, Int(bitPattern: converter) != -1 else {
        throw .fault("answered in the encoding \(name), for which this system has no table")
    }
    defer { iconv_close(converter) }
    var input = bytes
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count + bytes.count / 4)
    input.withUnsafeMutableBytes { input in
        withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 1) { piece in
            var next = input.baseAddress?.assumingMemoryBound(to: CChar.self)
            var left = input.count
            while left > 0, budget.isLeft {
                var end = piece.baseAddress?.assumingMemoryBound(to: CChar.self)
                var room = piece.count
                let result = iconv(converter, &next, &left, &end, &room)
                let error = errno
                output += piece[..<(piece.count - room)]
                budget.spend(bytes: piece.count - room)
                guard result == -1 else { break }
                // The piece is full, which is no fault; all else is one of the next byte.
                if error == E2BIG { continue }
                output += "\u{FFFD}".utf8
                budget.spend(bytes: 3)
                next = next?.successor()
                left -= 1
            }
        }
    }
    try budget.check()
    return output
}
