/// What is wrong with bytes that go to a terminal or a pipe.
///
/// Strict: what is not on the list of what norrisctl itself writes is a fault.
struct TerminalScanner {
    /// Whether the bytes were read from a terminal, which may be told more, and sends CR LF for each newline.
    let isTerminal: Bool

    private enum State {
        case text
        case escape
        /// Behind `ESC [`.
        case control(parameters: String)
        /// Behind `ESC ]`.
        case command(text: String)
        /// An ESC inside it, which only a backslash may follow.
        case commandEnd(text: String)
    }

    /// In words, each with what stands before it; empty where all is well.
    static func faults(in bytes: [UInt8], isTerminal: Bool) -> [String] {
        guard let text = String(validating: bytes, as: UTF8.self) else { return ["There are bytes that are no UTF-8."] }
        var scanner = TerminalScanner(isTerminal: isTerminal)
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            guard let fault = scanner.take(scalar) else { continue }
            let context = scalars[max(0, index - 60)...index].map { $0.escaped(asASCII: true) }.joined()
            scanner.faults.append("\(fault) after: \(context)")
        }
        if case .text = scanner.state {} else { scanner.faults.append("The last sequence has no end.") }
        return scanner.faults
    }

    private var state = State.text
    private var faults: [String] = []

    private init(isTerminal: Bool) {
        self.isTerminal = isTerminal
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> String? {
        switch state {
        case .text:
            if isTerminal, scalar == "\u{1B}" {
                state = .escape
                return nil
            }
            return isAllowed(scalar) ? nil : "U+\(String(scalar.value, radix: 16))"
        case .escape:
            state = scalar == "[" ? .control(parameters: "") : scalar == "]" ? .command(text: "") : .text
            return scalar == "[" || scalar == "]" ? nil : "An escape sequence of another kind"
        case .control(let parameters):
            if scalar == ";" || "0"..."9" ~= scalar {
                state = .control(parameters: parameters + String(scalar))
                return nil
            }
            state = .text
            // SGR, and EL: to the end of the line, or all of it.
            return scalar == "m" || scalar == "K" ? nil : "CSI \(parameters)\(scalar)"
        case .command(let text):
            state = scalar == "\u{1B}" ? .commandEnd(text: text) : .command(text: text + String(scalar))
            // Hyperlinks have addresses of visible ASCII.
            guard scalar == "\u{1B}" || "!"..."~" ~= scalar else {
                state = .text
                return "U+\(String(scalar.value, radix: 16)) in OSC \(text)"
            }
            return nil
        case .commandEnd(let text):
            state = .text
            let isLink = text == "8;;" || text.hasPrefix("8;;http://") || text.hasPrefix("8;;https://")
            return scalar == "\\" && isLink ? nil : "OSC \(text)"
        }
    }

    /// Newlines, tabs between the fields of a line, and all that shows; at a terminal also CR, which begins a line.
    private func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A: true
        case 0x09: true
        case 0x0D: isTerminal
        case ..<0x20, 0x7F..<0xA0: false
        // Bidi controls, line and paragraph separator, the byte order mark, what a decoder puts for an invalid byte.
        case 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF, 0xFFFD: false
        default: true
        }
    }
}
