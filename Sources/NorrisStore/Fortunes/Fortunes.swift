import Glibc
import NorrisProtocol
import NorrisSystem
import NorrisText

/// Fortune files as facts.
enum Fortunes {
    /// The fact for a text of a file.
    static func fact(_ text: String, of file: FortuneFile) -> Fact {
        let categories = Fact.isCategoryName(file.name) ? [file.name] : []
        return Fact(id: id(of: text), text: text, categories: categories, source: source(of: file.name))
    }

    /// The source of the facts of a file.
    static func source(of name: String) -> String { "fortune:\(name)" }

    /// Calls the body with each text of a fortune file: the lines between lines with only a percent sign (strfile(1)).
    ///
    /// The texts are sanitized; empty texts and texts above ``Fact/maximumLength`` are omitted. Takes time in
    /// proportion to the bytes.
    static func forEachText(in bytes: some Collection<UInt8>, _ body: (String) throws -> Void) rethrows {
        var start = bytes.startIndex
        var lineStart = start
        while lineStart < bytes.endIndex {
            let lineEnd = bytes[lineStart...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
            let next = lineEnd < bytes.endIndex ? bytes.index(after: lineEnd) : lineEnd
            if isDelimiter(bytes[lineStart..<lineEnd]) {
                if let text = text(bytes[start..<lineStart]) { try body(text) }
                start = next
            }
            lineStart = next
        }
        if let text = text(bytes[start...]) { try body(text) }
    }

    /// One text; nil if it cannot be stored.
    private static func text(_ bytes: some Collection<UInt8>) -> String? {
        guard !bytes.isEmpty else { return nil }
        let text = trimmed(sanitizedText(bytes: withoutOverstrikes(bytes)))
        return !text.isEmpty && text.unicodeScalars.count <= Fact.maximumLength ? text : nil
    }

    private static func isDelimiter(_ line: some Collection<UInt8>) -> Bool {
        line.elementsEqual([UInt8(ascii: "%")]) || line.elementsEqual([UInt8(ascii: "%"), UInt8(ascii: "\r")])
    }

    /// Removes the overstrikes of old files, which underline and embolden like typewriters, with a backspace between
    /// two characters: the second character stays.
    private static func withoutOverstrikes(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count)
        for byte in bytes {
            if byte == 0x08 {
                // A whole character: its continuation bytes, then its first byte.
                while let last = kept.last, last & 0xC0 == 0x80 { kept.removeLast() }
                if let last = kept.last, last != UInt8(ascii: "\n") { kept.removeLast() }
            } else {
                kept.append(byte)
            }
        }
        return kept
    }

    /// Removes empty lines at both ends and white space at the end, but not the indentation of the first line.
    private static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        let lineStart = scalars[..<first].lastIndex(of: "\n").map(scalars.index(after:)) ?? scalars.startIndex
        return String(scalars[lineStart...last])
    }

    /// A hash of the text, so that a fortune has the same id in every file and on every machine.
    private static func id(of text: String) -> String {
        "fortune:" + SipHash.hash(text.utf8, key: (0, 0)).digits(radix: 32, width: 13)
    }

    /// Calls the body with each text of a file.
    ///
    /// - Throws: ``FortuneFault`` for an unreadable file, before any text; and errors of the body.
    static func forEachText(of file: FortuneFile, _ body: (String) throws -> Void) throws {
        try forEachText(in: try bytes(of: file), body)
    }

    private static func bytes(of file: FortuneFile) throws(FortuneFault) -> [UInt8] {
        func fault(_ problem: String) -> FortuneFault { FortuneFault(path: file.path, problem: problem) }
        let bytes: [UInt8]
        do throws(SystemError) {
            // O_NONBLOCK, because the path may have become a pipe.
            let descriptor = try openFile(file.path, O_RDONLY | O_NONBLOCK)
            defer { close(descriptor) }
            bytes = try readAll(descriptor, limit: FortuneFiles.maximumSize)
        } catch {
            throw fault("cannot be read (\(error.reason)); check its permissions and the disk")
        }
        if bytes.count > FortuneFiles.maximumSize { throw fault(FortuneFiles.tooLarge) }
        // No text contains a NUL, and nearly every binary file does.
        if bytes.contains(0) { throw fault("is no text; take it out of facts.fortunes") }
        return bytes
    }
}
