import NorrisProtocol
import NorrisSystem
import NorrisTerminal

extension Session {
    /// Opens an address in the user's browser; one that takes its time is left alone.
    ///
    /// - Parameter thing: what it is the address of, such as `GIF abc`.
    /// - Returns: what has been done, as a sentence.
    func open(_ address: String?, of thing: String) throws(Failure) -> String {
        guard let address, isWebAddress(address) else { throw Failure(.nothing, "\(thing) has no web address.") }
        return try open(address)
    }

    /// Opens a file in the program that the user has for such.
    ///
    /// - Returns: what has been done, as a sentence.
    func open(file path: String) throws(Failure) -> String {
        // xdg-open takes a dash for an option, and what stands before a colon for the scheme of an address.
        try open(path.utf8.first == UInt8(ascii: "/") ? path : "./\(path)")
    }

    /// - Parameter address: of the web, or the path of a file.
    private func open(_ address: String) throws(Failure) -> String {
        let hint: Advice = "Open it yourself: \(address)"
        var request = SubprocessRequest(program: "xdg-open", arguments: [address])
        if ["DISPLAY", "WAYLAND_DISPLAY"].contains(where: { system.environment.value(of: $0) != nil }) {
            request.timeout = .seconds(3)
            request.mayGoOn = true
        } else if system.terminal.isTerminal, system.isInputTerminal {
            // Without a display xdg-open takes a browser that runs in the terminal.
            request.input = .inherited
            request.output = .terminal(reset: Self.screenReset + Self.terminalReset)
        } else {
            throw Failure(.unavailable, "There is no display and no terminal to open it in.", hint: hint)
        }
        switch system.run(request) {
        case .ended(status: 0, _), .goesOn: return "Opened \(address)"
        case .missing: throw .missing("xdg-open", packages: "xdg-utils")
        case .ended(let status, _): throw Failure(.unavailable, "xdg-open failed with status \(status).", hint: hint)
        case let outcome: throw .unfinished("xdg-open", outcome)
        }
    }

    /// Ends whatever sequence a terminal is in the middle of (ECMA-48, ST), colors, hiding the cursor, and the line.
    static let terminalReset = Array("\u{1B}\\\u{1B}[0m\u{1B}[?25h\n".utf8)

    /// Leaves the alternate screen, and the mouse to the terminal (xterm's ctlseqs). Without such a screen the cursor
    /// goes to where it was saved, so that is done first.
    private static let screenReset = Array("\u{1B}\\\u{1B}7\u{1B}[?1049l\u{1B}[?1000l".utf8)
}
