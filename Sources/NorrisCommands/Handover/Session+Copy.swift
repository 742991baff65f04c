import NorrisProtocol
import NorrisTerminal
import NorrisText

extension Session {
    /// Copies a text to the clipboard, as one line: a newline that is pasted into a shell would run what stands before.
    ///
    /// - Returns: what has been done, as a sentence.
    func copy(_ text: String) throws(Failure) -> String {
        let bytes = Array(sanitizedLine(text).utf8)
        for program in clipboardPrograms where copy(bytes, with: program) {
            return "Copied to the clipboard."
        }
        guard let write = terminalWriter else {
            throw Failure(
                .unavailable, "Nothing took the text: neither wl-copy, nor xclip, nor a terminal.",
                hint: "With Wayland: apt install wl-clipboard; with X11: apt install xclip"
            )
        }
        let encoded = base64(bytes)
        guard encoded.utf8.count <= Self.longestSequence else {
            throw Failure(
                .unavailable, "The text is too long to be copied through the terminal.",
                hint: "With Wayland: apt install wl-clipboard; with X11: apt install xclip"
            )
        }
        // OSC 52 of xterm's ctlseqs; what stands in it is base64, so nothing of the text reaches the terminal.
        write(Array("\u{1B}]52;c;\(encoded)\u{1B}\\".utf8))
        return "Sent to the terminal, for its clipboard."
    }

    /// In bytes; what terminals take at least.
    private static var longestSequence: Int { 100_000 }

    /// Those of the display there is. They stay behind to hold the text, with nothing of norrisctl's open.
    private var clipboardPrograms: [(String, [String])] {
        var programs: [(String, [String])] = []
        if system.environment.value(of: "WAYLAND_DISPLAY") != nil {
            programs.append(("wl-copy", ["--type", "text/plain"]))
        }
        if system.environment.value(of: "DISPLAY") != nil {
            programs.append(("xclip", ["-selection", "clipboard", "-in"]))
        }
        return programs
    }

    private func copy(_ bytes: [UInt8], with program: (name: String, arguments: [String])) -> Bool {
        let request = SubprocessRequest(
            program: program.name, arguments: program.arguments, input: .bytes(bytes), timeout: .seconds(3)
        )
        return system.run(request) == .ended(status: 0)
    }

    /// Writes to the terminal, if there is one that knows what OSC is.
    private var terminalWriter: (([UInt8]) -> Void)? {
        guard !isDumbTerminal(system.environment), system.environment["TERM"] != "linux" else { return nil }
        if system.isErrorTerminal {
            return system.writeError
        }
        // What cannot be written here the content cannot be either, and that is told.
        return system.terminal.isTerminal ? { try? system.writeOutput($0) } : nil
    }
}
