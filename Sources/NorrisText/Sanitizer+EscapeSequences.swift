extension String.UnicodeScalarView {
    /// Where the escape sequence that starts at an index ends, or nil if none starts there or it is not complete.
    ///
    /// Known are the sequences that carry text a reader should not see (ECMA-48, 5.4 and 5.6; ECMA-35 for the last):
    /// CSI (colours, cursor movement), OSC (links, titles), DCS, SOS, PM, APC, each with its introducer as ESC and a
    /// letter or as one C1 control, and the choice of a character set (`ESC ( B`), with which `tput sgr0` ends colours.
    func endOfEscapeSequence(at start: Index) -> Index? {
        var next = index(after: start)
        var introducer = self[start].value
        if introducer == 0x1B {
            guard next < endIndex else { return nil }
            // ESC and a character of 0x40...0x5F stand for the C1 control 0x40 above it.
            introducer = self[next].value + 0x40
            next = index(after: next)
        }
        switch introducer {
        case 0x9B:
            return endOfControlSequence(from: next)
        case 0x9D:
            return endOfControlString(from: next, bellEnds: true)
        case 0x90, 0x98, 0x9E, 0x9F:
            return endOfControlString(from: next, bellEnds: false)
        case 0x68...0x6B where self[start].value == 0x1B:
            // ESC and one of ( ) * + name the set to be designated, a final character which.
            return next < endIndex && 0x30...0x7E ~= self[next].value ? index(after: next) : nil
        default:
            return nil
        }
    }

    /// The end of a CSI sequence after its introducer: parameters, intermediates, one final character.
    private func endOfControlSequence(from start: Index) -> Index? {
        var next = start
        while next < endIndex, 0x30...0x3F ~= self[next].value {
            next = index(after: next)
        }
        while next < endIndex, 0x20...0x2F ~= self[next].value {
            next = index(after: next)
        }
        return next < endIndex && 0x40...0x7E ~= self[next].value ? index(after: next) : nil
    }

    /// The end of a control string after its introducer: anything but controls, then ST (`ESC \` or U+009C).
    ///
    /// A newline ends the search although ECMA-48 would let it pass: an unclosed string must not swallow a page.
    private func endOfControlString(from start: Index, bellEnds: Bool) -> Index? {
        var next = start
        while next < endIndex {
            let value = self[next].value
            next = index(after: next)
            switch value {
            case 0x9C:
                return next
            case 0x07 where bellEnds:
                return next
            case 0x1B:
                return next < endIndex && self[next] == "\\" ? index(after: next) : nil
            case ..<0x20, 0x7F..<0xA0:
                return nil
            default:
                continue
            }
        }
        return nil
    }
}
