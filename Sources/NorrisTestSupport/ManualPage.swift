import Foundation

/// The source of a manual page in `Scripts/man`, or of a part of one, as tests compare it with the programs.
///
/// It reads just so much of mdoc(7) as those pages use.
package struct ManualPage: Sendable {
    package let lines: [String]

    private static let folder = URL(filePath: #filePath).appending(path: "../../../Scripts/man").standardized

    private init(lines: [String]) { self.lines = lines }

    /// - Parameter name: such as `norrisctl.1`.
    package init(_ name: String) throws {
        let text = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
        lines = text.components(separatedBy: "\n")
    }

    /// What stands under a heading of the page; empty if there is none such.
    package func section(_ title: String) -> ManualPage { part(from: ".Sh \(title)", to: ".Sh ") }

    /// The titles below `.Ss`.
    package var subsections: [String] { lines.filter { $0.hasPrefix(".Ss ") }.map { String($0.dropFirst(4)) } }

    package func subsection(_ title: String) -> ManualPage { part(from: ".Ss \(title)", to: ".Ss ") }

    /// The lines up to the first paragraph: how a command's options and arguments go together.
    package var usage: String { lines.prefix { $0 != ".Pp" }.map(Self.plain).joined(separator: " ") }

    /// The tags of its lists, such as `--category name`.
    package var items: [String] { lines.filter { $0.hasPrefix(".It ") }.map { Self.plain(String($0.dropFirst(4))) } }

    /// What is displayed as it is, block by block: examples.
    package var displays: [String] {
        lines.split(omittingEmptySubsequences: false) { $0.hasPrefix(".Bd -literal") }.dropFirst()
            .map { $0.prefix { $0 != ".Ed" }.map { Self.unescaped($0) + "\n" }.joined() }
    }

    private func part(from start: String, to end: String) -> ManualPage {
        guard let index = lines.firstIndex(of: start) else { return ManualPage(lines: []) }
        return ManualPage(lines: Array(lines[(index + 1)...].prefix { !$0.hasPrefix(end) }))
    }
}

extension ManualPage {
    /// Names of macros within a line.
    private static let macros: Set = ["Ar", "Cm", "Dv", "Ev", "Fl", "Nm", "Op", "Pa", "Sy"]

    /// The words of a macro line as they are printed, without brackets.
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

    /// A text as a line of a page may hold it.
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

/// A part of a page that is made from a table of the programs.
extension ManualPage {
    /// The page with these parts, which stand between comments `begin TITLE` and `end`, in place of its own.
    package func replacing(_ part: (_ title: String) -> String) -> ManualPage {
        var updated: [String] = []
        var isInside = false
        for line in lines {
            if line == #".\" end"# { isInside = false }
            if !isInside { updated.append(line) }
            if line.hasPrefix(#".\" begin "#) {
                isInside = true
                updated += part(String(line.dropFirst(#".\" begin "#.count))).split(separator: "\n").map(String.init)
            }
        }
        return ManualPage(lines: updated)
    }

    /// Writes the page to its file where the documents are to be brought up to date.
    ///
    /// - Returns: whether it was to be written.
    package func updateDocument(_ name: String) throws -> Bool {
        guard ProcessInfo.processInfo.environment["NORRIS_UPDATE_DOCUMENTS"] == "1" else { return false }
        let text = lines.joined(separator: "\n")
        try text.write(to: Self.folder.appending(path: name), atomically: true, encoding: .utf8)
        return true
    }
}
