import Foundation
import NorrisTestSupport
import Testing

/// Whatever stands in the place of the facts, a shell shows data or nothing, and is there at once.
struct ShellHostileFileTests {
    /// A line as an attacker writes it, and what is shown of it where the terminal takes UTF-8, and where it does not.
    private struct Line {
        let bytes: [UInt8]
        let shown: String
        let shownInASCII: String

        init(_ text: String, _ shown: String, ascii: String? = nil) {
            self.init(Array(text.utf8), shown, ascii: ascii)
        }

        init(_ bytes: [UInt8], _ shown: String, ascii: String? = nil) {
            self.bytes = bytes
            self.shown = shown
            shownInASCII = ascii ?? shown
        }
    }

    private func lines(_ file: String) -> [Line] {
        [
            Line("a $(touch \(file)) `touch \(file)`", "a (touch \(file)) touch \(file)"),
            Line("b %n%F{red}%(!.x.y) !! !:0 \\w \\$(x) ${x}", "b nF{red}(.x.y)  :0 w (x) {x}"),
            Line("c \u{1B}]0;title\u{07} \u{1B}[31m red \t\r \u{7F}", "c ]0;title [31m red  "),
            Line("d \u{9B}31m \u{85} é", "d 31m  é", ascii: "d 31m  "),
            Line(
                "e \u{202A}\u{202E}\u{2066}\u{2069}\u{200E}\u{200F}\u{61C}\u{2028}\u{2029} 漢€😀ß",
                "e  漢€😀ß", ascii: "e  "
            ),
            Line(Array("f ".utf8) + [0x9B, 0x33] + Array(" raw".utf8), "f 3 raw"),
            // What is left must not join to a control: C2 and 9B are U+009B.
            Line(Array("g ".utf8) + [0xC2, 0x1B, 0x9B, 0x33], "g 3"),
            Line(Array("h ".utf8) + [0xC2, 0xC2, 0x80, 0x9B, 0x33], "h 3"),
            // Overlong forms, a surrogate, and what is past the last code point.
            Line(Array("i ".utf8) + [0xC0, 0x9B, 0xE0, 0x80, 0x9B, 0xED, 0xA0, 0x80, 0xF4, 0x90, 0x80, 0x80], "i "),
            Line("k ' \" ; & | > ( { [ ] } ) * ? ~ #", "k ' \" ; & | > ( { [ ] } ) * ? ~ #"),
            Line("-n l", "-n l"),
        ]
    }

    @Test(arguments: Shell.allCases, ["C.UTF-8", "C"])
    func theLinesOfAnAttackerAreShownAsData(shell: Shell, locale: String) async throws {
        try await TestThread.run {
            let home = try ShellHome(shell, ["--prompt"])
            try home.configure(before: shell == .zsh ? "setopt prompt_bang" : "")
            let lines = lines(home.folder("X"))
            let overlong = Array(repeating: UInt8(ascii: "x"), count: 5000)
            // The last line has no end.
            try home.write(facts: Data((lines.map(\.bytes) + [overlong, []]).joined(separator: [0x0A])))
            let terminal = try home.start(environment: ["LC_ALL": locale])
            let facts = terminal.facts(ofPrompts: lines.count)
            // fish takes a terminal for one of UTF-8 in any locale.
            let expected = lines.map { locale == "C" && shell != .fish ? $0.shownInASCII : $0.shown }
            #expect(facts.sorted() == expected.sorted())
            terminal.transcriptToTheEnd()
            #expect(!FileManager.default.fileExists(atPath: home.folder("X")))
        }
    }

    @Test(arguments: Shell.allCases)
    func theGreetingIsDataToo(shell: Shell) async throws {
        try await TestThread.run {
            let home = try ShellHome(shell, ["--greeting"])
            try home.write(facts: ["-e a $(touch \(home.folder("X"))) \u{1B}]0;title\u{07}%s \\n"])
            let terminal = try home.start()
            #expect(terminal.wait(for: "-e a (touch \(home.folder("X"))) ]0;titles n\r\n") != nil)
            terminal.transcriptToTheEnd()
            #expect(!FileManager.default.fileExists(atPath: home.folder("X")))
        }
    }

    enum Place: CaseIterable {
        case missing, empty, blank, folder, pipe, device, endlessLine, endlessFile
    }

    @Test(arguments: Shell.allCases, Place.allCases)
    func withoutAFactThereIsNothingAndNoWaiting(shell: Shell, place: Place) async throws {
        try await TestThread.run {
            let home = try ShellHome(shell)
            switch place {
            case .missing: break
            case .empty: try home.write(facts: Data())
            case .blank: try home.write(facts: ["", "  ", "\t", "$"])
            case .folder: mkdir(home.factFile, 0o755)
            case .pipe: mkfifo(home.factFile, 0o644)
            case .device: symlink("/dev/zero", home.factFile)
            case .endlessLine: try home.write(facts: Data(repeating: UInt8(ascii: "x"), count: 20_000_000))
            case .endlessFile:
                try home.write(facts: Data())
                truncate(home.factFile, 1 << 33)
            }
            let terminal = try home.start()
            #expect(terminal.facts(ofPrompts: 3) == ["", "", ""])
            #expect(terminal.endsWithoutComplaint())
        }
    }

    /// The work of zsh grows with the square of such a line.
    @Test(arguments: [Shell.bash, .zsh])
    func aLineThatIsFarTooLongIsNotLookedAt(shell: Shell) async throws {
        try await TestThread.run {
            let home = try ShellHome(shell, ["--prompt"])
            let lines = [(799, "near"), (800, "far")].map { String(repeating: "$", count: $0.0 - $0.1.count) + $0.1 }
            try home.write(facts: [lines[0], lines[1] + "ther"])
            #expect(try home.start().facts(ofPrompts: 4) == Array(repeating: "near", count: 4))
        }
    }
}
