import Foundation

/// A manual page in `Scripts/man`, or a part of it, for comparison with the programs. Generated parts are not in it.
///
/// Reads only the macros of mdoc(7) that the pages use.
package struct ManualPage: Sendable {
    package let lines: [String]

    private static let folder = URL(filePath: #filePath).appending(path: "../../../Scripts/man").standardized

    private init(lines: [String]) { self.lines = lines }

    /// - Parameter name: such as `norrisctl.1`.
    package init(_ name: String) throws {
        let text = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
        lines = text.components(separatedBy: "\n")
    }

    /// The lines below a heading; empty without such a heading.
    package func section(_ title: String) -> ManualPage {
        guard let index = lines.firstIndex(of: ".Sh \(title)") else { return ManualPage(lines: []) }
        return ManualPage(lines: Array(lines[(index + 1)...].prefix { !$0.hasPrefix(".Sh ") }))
    }

    /// The lines up to the first paragraph: the synopsis of a program.
    package var usage: String { lines.prefix { $0 != ".Pp" }.map(Self.plain).joined(separator: " ") }

    /// The tags of all lists, such as `--category name`.
    package var items: [String] { lines.filter { $0.hasPrefix(".It ") }.map { Self.plain(String($0.dropFirst(4))) } }

    /// The displays, block by block: examples.
    package var displays: [String] {
        lines.split(omittingEmptySubsequences: false) { $0.hasPrefix(".Bd -literal") }.dropFirst()
            .map { $0.prefix { $0 != ".Ed" }.map { Self.unescaped($0) + "\n" }.joined() }
    }
}

extension ManualPage {
    /// Macros that occur inside a line.
    private static let macros: Set = ["Ar", "Cm", "Dv", "Ev", "Fl", "Nm", "Op", "Pa", "Sy"]

    /// The printed words of a macro line, without brackets.
    private static func plain(_ line: String) -> String {
        var isFlag = false
        var words: [String] = []
        for word in (line.hasPrefix(".") ? line.dropFirst() : line[...]).split(separator: " ").map(String.init) {
            if macros.contains(word) {
                isFlag = word == "Fl"
            } else if word == ",", let last = words.popLast() {
                words.append(last + ",")
            } else {
                words.append((isFlag ? "-" : "") + unescaped(word))
                isFlag = false
            }
        }
        return words.joined(separator: " ")
    }

    /// The escapes of groff_char(7) that the pages use.
    private static let escapes = [
        "\\(aq": "'", "\\(dq": "\"", "\\(ga": "`", "\\(ti": "~", "\\-": "-", "\\&": "", "\\:": "", "\\e": "\\",
    ]

    private static func unescaped(_ text: String) -> String {
        escapes.filter { $0.key != "\\e" }.reduce(text) { $0.replacingOccurrences(of: $1.key, with: $1.value) }
            .replacingOccurrences(of: "\\e", with: "\\")
    }
}
