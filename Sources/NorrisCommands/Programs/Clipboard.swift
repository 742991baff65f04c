import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisText

extension Session {
    /// Copies a text to the clipboard as one line, because a shell runs the text before a pasted newline.
    func copy(_ text: String) throws(Failure) -> String {
        let bytes = Array(sanitizedLine(text).utf8)
        for program in clipboardPrograms("text/plain") where copy(bytes, with: program) {
            return "Copied to the clipboard."
        }
        let hint = Self.clipboardHint
        guard let write = terminalWriter else {
            let message = "No clipboard is available."
            throw Failure(.unavailable, message, hint: hint)
        }
        let encoded = base64(bytes)
        // The number of base64 bytes that every terminal accepts.
        guard encoded.utf8.count <= 100_000 else {
            throw Failure(.unavailable, "The text is too long to be copied through the terminal.", hint: hint)
        }
        // OSC 52 of xterm's ctlseqs. The text is base64, so none of its bytes reach the terminal.
        write(Array("\u{1B}]52;c;\(encoded)\u{1B}\\".utf8))
        return "Sent to the terminal's clipboard."
    }

    /// Copies a PNG to the clipboard. Terminals accept only text.
    func copy(picture: [UInt8]) throws(Failure) -> String {
        for program in clipboardPrograms("image/png") where copy(picture, with: program) {
            return "Copied the card to the clipboard."
        }
        throw Failure(.unavailable, "No clipboard program took the card.", hint: Self.clipboardHint)
    }

    private static var clipboardHint: Advice {
        "With Wayland: sudo apt install wl-clipboard; with X11: sudo apt install xclip"
    }

    /// The programs for the user's display. They stay in the background with the text, and inherit no pipe of
    /// norrisctl.
    private func clipboardPrograms(_ type: String) -> [(String, [String])] {
        let target = type == "text/plain" ? [] : ["-target", type]
        return [
            ("WAYLAND_DISPLAY", "wl-copy", ["--type", type]),
            ("DISPLAY", "xclip", ["-selection", "clipboard"] + target + ["-in"]),
        ].filter { system.environment.value(of: $0.0) != nil }.map { ($0.1, $0.2) }
    }

    private func copy(_ bytes: [UInt8], with program: (name: String, arguments: [String])) -> Bool {
        let request = SubprocessRequest(
            program: program.name, arguments: program.arguments, input: .bytes(bytes), timeout: .seconds(3))
        return system.run(request) == .ended(status: 0)
    }

    /// Writes to the terminal, if there is a terminal that supports OSC.
    private var terminalWriter: (([UInt8]) -> Void)? {
        guard !isDumbTerminal(system.environment), system.environment["TERM"] != "linux" else { return nil }
        if system.isErrorTerminal { return { system.writeError($0) } }
        // If this write fails, norrisctl reports the same failure for the output.
        return system.terminal.isTerminal ? { try? system.writeOutput($0) } : nil
    }
}

/// Returns bytes in base64 with padding (RFC 4648, section 4).
private func base64(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let group = bytes[start..<min(start + 3, bytes.count)]
        let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
        for index in 0..<4 {
            text.append(index <= group.count ? digits[bits >> (18 - 6 * index) & 0x3F] : UInt8(ascii: "="))
        }
    }
    return String(decoding: text, as: UTF8.self)
}
