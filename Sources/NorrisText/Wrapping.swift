/// A text as lines of at most `width` columns (at least 1) for a terminal, without newlines and tabs.
///
/// Newlines of the text stay line ends; one at the very end closes the last line and opens no further one, and an
/// empty text has no lines. Lines break at spaces, which go, and on either side of wide characters, but never before
/// closing or after opening punctuation. A word wider than the line starts on its own line and is cut between
/// grapheme clusters; a cluster wider than the line stands alone and is the only thing that may exceed `width`.
/// Spaces inside a line stay; tabs fill to the next multiple of eight columns. The indentation of a line is repeated
/// where the line goes on, at most half the width of it.
package func wrapped(_ text: String, width: Int) -> [String] {
    var hardLines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    if hardLines.last?.isEmpty == true {
        hardLines.removeLast()
    }
    var wrapper = LineWrapper(width: max(width, 1))
    for hardLine in hardLines {
        wrapper.wrap(hardLine)
    }
    return wrapper.lines
}

extension Character {
    /// Whether a line may break here and drop the character: white space but the no-break kinds (UAX #14, class GL).
    ///
    /// A space with a combining mark shows the mark and is not dropped.
    var isBreakingSpace: Bool {
        isWhitespace && unicodeScalars.count == 1 && self != "\u{A0}" && self != "\u{2007}" && self != "\u{202F}"
    }

    /// Whether the character must not begin a line: closing punctuation, and the small kana and marks of length of
    /// Japanese (UAX #14, classes CL, CP, EX, IS, NS, CJ; JIS X 4051, section 4.3).
    var isBarredFromLineStart: Bool {
        switch unicodeScalars.first {
        case "!", ")", ",", ".", ":", ";", "?", "]", "}", "%", "\"", "'", "’", "”", "…", "‥", "»", "›",
            "、", "。", "，", "．", "・", "：", "；", "？", "！", "）", "］", "｝", "｠", "」", "』", "】", "〉", "》",
            "〕", "〗", "〙", "〛", "〟", "～", "〜", "ー", "々", "〻", "ゝ", "ゞ", "ヽ", "ヾ", "％", "｡", "｣", "､", "･",
            "ぁ", "ぃ", "ぅ", "ぇ", "ぉ", "っ", "ゃ", "ゅ", "ょ", "ゎ", "ゕ", "ゖ",
            "ァ", "ィ", "ゥ", "ェ", "ォ", "ッ", "ャ", "ュ", "ョ", "ヮ", "ヵ", "ヶ":
            true
        default:
            false
        }
    }

    /// Whether the character must not end a line: opening punctuation (UAX #14, class OP).
    var isBarredFromLineEnd: Bool {
        switch unicodeScalars.first {
        case "(", "[", "{", "‘", "“", "«", "‹", "（", "［", "｛", "｟", "「", "『", "【", "〈", "《", "〔", "〖", "〘",
            "〚", "〝", "｢":
            true
        default:
            false
        }
    }
}
