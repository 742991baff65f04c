/// A small generator with a seed (SplitMix64, Steele and others 2014), so that a failing text can be made again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// What random texts are put together from: every kind of thing that the text rules treat in its own way.
private let textParts = [
    "a", "Norris", "x", "supercalifragilistic", " ", " ", " ", "   ", "\n", "\t", "\r", "\r\n", "\u{A0}", "\u{3000}",
    "é",
    "e\u{301}", "\u{301}", "ß", "日", "本語", "。", "「", "」", "ッ", "한", "\u{1112}", "\u{1161}", "\u{11AB}", "कि", "क्ष",
    "स", "्",
    "กำ", "สวัสดี", "שָׁ", "\u{600}", "👩‍👩‍👧‍👦", "👍🏽", "🔥", "❤", "\u{FE0F}", "\u{FE0E}", "\u{200D}", "\u{200C}", "🇨",
    "🇭", "🏽", "1️⃣",
    "1", "\u{20E3}", "(", ")", "!", "\u{1B}", "\u{1B}[31m", "\u{1B}]0;", "\u{1B}\\", "\u{7}", "[", "]", "3", ";",
    "m", "\\",
    "\u{9B}", "\u{9D}", "\u{9C}", "\u{85}", "\u{7F}", "\u{0}", "\u{202E}", "\u{2028}", "\u{2067}", "\u{FEFF}",
    "\u{FFFD}",
    "\u{E0067}", "\u{E007F}", "\u{AD}", "\u{FFFF}", "\u{10FFFF}",
]

extension SeededGenerator {
    /// A text of up to 40 parts and, now and then, any scalar of Unicode.
    mutating func text() -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...40, using: &self) {
            if Int.random(in: 0..<10, using: &self) == 0 {
                let scalar = Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &self))
                text.unicodeScalars.append(scalar ?? "?")
            } else {
                text += textParts[Int.random(in: textParts.indices, using: &self)]
            }
        }
        return text
    }

    /// Up to 60 bytes, mostly those that begin, continue or break UTF-8 sequences and escape sequences.
    mutating func bytes() -> [UInt8] {
        let salient: [UInt8] = [
            0x0A, 0x1B, 0x5B, 0x5D, 0x07, 0x5C, 0x6D, 0x80, 0x9B, 0xBF, 0xC0, 0xC2, 0xE2, 0xED, 0xF0, 0xF4,
        ]
        return (0..<Int.random(in: 0...60, using: &self)).map { _ in
            Bool.random(using: &self)
                ? salient[Int.random(in: salient.indices, using: &self)] : UInt8.random(in: 0...255, using: &self)
        }
    }
}

/// The scalars of a text, to compare texts exactly: `==` of strings takes canonically equivalent ones as equal.
func scalars(_ text: some StringProtocol) -> [Unicode.Scalar] {
    Array(text.unicodeScalars)
}
