import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisText

extension Session {
    /// Opens the address of an item, such as `GIF abc`, in the user's browser. Returns a sentence about the result.
    func open(_ address: String?, of thing: String) throws(Failure) -> String {
        guard let address, isWebAddress(address) else { throw Failure(.nothing, "\(thing) has no web address.") }
        return try open(address, inBrowser: true)
    }

    /// Opens a file in the user's program for its type, or in the browser. Returns a sentence about the result.
    func open(file path: String, inBrowser: Bool = false) throws(Failure) -> String {
        // xdg-open interprets a leading dash as an option, and text before a colon as the scheme of an address.
        try open(path.utf8.first == UInt8(ascii: "/") ? path : "./\(path)", inBrowser: inBrowser)
    }

    /// Opens a web address or the path of a file. A program on a display continues after the timeout.
    private func open(_ address: String, inBrowser: Bool) throws(Failure) -> String {
        let hint: Advice = "Open it yourself: \(value: address)"
        var request = SubprocessRequest(program: "xdg-open", arguments: [])
        if ["DISPLAY", "WAYLAND_DISPLAY"].contains(where: { system.environment.value(of: $0) != nil }) {
            request.timeout = .seconds(3)
            request.mayGoOn = true
        } else if system.terminal.isTerminal, system.isInputTerminal {
            // Without a display, xdg-open starts a browser that runs in the terminal.
            request.input = .inherited
            request.output = .terminal(reset: Self.screenReset + Self.terminalReset)
        } else {
            throw Failure(.unavailable, "There is no display and no terminal to open it in.", hint: hint)
        }
        // The commands of BROWSER, separated by colons, as in xdg-open(1); xdg-open prefers the desktop's browser.
        let browsers = inBrowser ? (system.environment["BROWSER"] ?? "").split(separator: ":") : []
        for command in browsers + ["xdg-open"] {
            let words = command.split(separator: " ").map(String.init)
            guard let program = words.first else { continue }
            request.program = program
            request.arguments = words.dropFirst().map { $0 == "%s" ? address : $0 }
            if !words.contains("%s") { request.arguments.append(address) }
            switch system.run(request) {
            case .ended(status: 0, _), .goesOn: return "Opened \(address)"
            case .missing: continue
            case .ended(let status, _):
                throw Failure(.unavailable, "\(program) failed with status \(status).", hint: hint)
            case let outcome: throw .unfinished(program, outcome)
            }
        }
        throw .missing("xdg-open", packages: "xdg-utils")
    }

    /// Ends an incomplete control sequence (ECMA-48, ST), the colors and the line, and shows the cursor.
    static let terminalReset = Array("\u{1B}\\\u{1B}[0m\u{1B}[?25h\n".utf8)

    /// Leaves the alternate screen and disables mouse reports (xterm's ctlseqs). The cursor is saved first, because
    /// without an alternate screen the terminal restores the saved cursor.
    private static let screenReset = Array("\u{1B}\\\u{1B}7\u{1B}[?1049l\u{1B}[?1000l".utf8)
}
