import Foundation

/// The source of a manual page in `Scripts/man`, or of a part of a page, for comparison with the programs.
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

    /// A text in a form that is valid in a line of a page.
    package static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "\\", with: "\\e")
            .replacingOccurrences(of: "-", with: "\\-")
            .replacingOccurrences(of: "'", with: "\\(aq")
            .replacingOccurrences(of: "\"", with: "\\(dq")
            .replacingOccurrences(of: "~", with: "\\(ti")
            .replacingOccurrences(of: "…", with: " to ")
            .replacing(#/`([^`]*)`/#) { "\\(lq\($0.1)\\(rq" }
    }
}

/// The parts of a page that are generated from tables of the programs.
extension ManualPage {
    /// The page with new parts between the comments `begin TITLE` and `end`.
    package func replacing(_ part: (_ title: String) throws -> String) rethrows -> ManualPage {
        var updated: [String] = []
        var isInside = false
        for line in lines {
            if line == #".\" end"# { isInside = false }
            if !isInside { updated.append(line) }
            if line.hasPrefix(#".\" begin "#) {
                isInside = true
                updated += try part(String(line.dropFirst(#".\" begin "#.count))).split(separator: "\n").map(
                    String.init)
            }
        }
        return ManualPage(lines: updated)
    }

    /// Writes the page to its file if `NORRIS_UPDATE_DOCUMENTS` is 1.
    ///
    /// - Returns: whether the page was written.
    package func updateDocument(_ name: String) throws -> Bool {
        guard ProcessInfo.processInfo.environment["NORRIS_UPDATE_DOCUMENTS"] == "1" else { return false }
        let text = lines.joined(separator: "\n")
        try text.write(to: Self.folder.appending(path: name), atomically: true, encoding: .utf8)
        return true
    }
}
