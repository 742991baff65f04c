import Glibc
import NorrisProtocol
import NorrisText

/// Fortune files as facts.
enum Fortunes {
    /// Reads files; one that cannot be read is left out and said.
    ///
    /// - Returns: each text once: one that stands in several files has all their categories.
    static func read(_ files: [FortuneFile]) -> (facts: [Fact], faults: [FortuneFault]) {
        var facts: [Fact] = []
        var places: [String: Int] = [:]
        var faults: [FortuneFault] = []
        for file in files {
            do throws(FortuneFault) {
                for text in try texts(of: file) {
                    let id = id(of: text)
                    let category = Fact.isCategoryName(file.name) ? [file.name] : []
                    if let place = places[id] {
                        let added = category.filter { !facts[place].categories.contains($0) }
                        facts[place].categories += added
                    } else {
                        places[id] = facts.count
                        facts.append(Fact(id: id, text: text, categories: category, source: source(of: file.name)))
                    }
                }
            } catch {
                faults.append(error)
            }
        }
        return (facts, faults)
    }

    /// The source of the facts of a file with this name.
    static func source(of name: String) -> String {
        "fortune:\(name)"
    }

    /// The texts of a fortune file: what stands between lines that hold only a percent sign (strfile(1)).
    ///
    /// Sanitised; empty texts and those past ``Fact/maximumLength`` are left out. Takes time in proportion to the bytes,
    /// whatever they are.
    static func texts(in bytes: some Collection<UInt8>) -> [String] {
        var texts: [String] = []
        var start = bytes.startIndex
        var lineStart = start
        while lineStart < bytes.endIndex {
            let lineEnd = bytes[lineStart...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
            let next = lineEnd < bytes.endIndex ? bytes.index(after: lineEnd) : lineEnd
            if isDelimiter(bytes[lineStart..<lineEnd]) {
                if let text = text(bytes[start..<lineStart]) { texts.append(text) }
                start = next
            }
            lineStart = next
        }
        if let text = text(bytes[start...]) { texts.append(text) }
        return texts
    }

    /// One text; nil where there is none that can be stored.
    private static func text(_ bytes: some Collection<UInt8>) -> String? {
        guard !bytes.isEmpty else { return nil }
        let text = trimmed(sanitizedText(bytes: withoutOverstrikes(bytes)))
        return !text.isEmpty && text.unicodeScalars.count <= Fact.maximumLength ? text : nil
    }

    private static func isDelimiter(_ line: some Collection<UInt8>) -> Bool {
        line.elementsEqual([UInt8(ascii: "%")]) || line.elementsEqual([UInt8(ascii: "%"), UInt8(ascii: "\r")])
    }

    /// Some old files underline and embolden as typewriters did, a character over another: the later one stays.
    private static func withoutOverstrikes(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count)
        for byte in bytes {
            if byte == 0x08 {
                // A whole character: its continuation bytes, then the byte that leads it.
                while let last = kept.last, last & 0xC0 == 0x80 { kept.removeLast() }
                if let last = kept.last, last != UInt8(ascii: "\n") { kept.removeLast() }
            } else {
                kept.append(byte)
            }
        }
        return kept
    }

    /// Without empty lines at either end and white space at the very end; indentation of the first line stays.
    private static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        let lineStart = scalars[..<first].lastIndex(of: "\n").map(scalars.index(after:)) ?? scalars.startIndex
        return String(scalars[lineStart...last])
    }

    /// An id made from the text: the same fortune has the same id in every file and on every machine.
    private static func id(of text: String) -> String {
        let digits = String(SipHash.hash(text.utf8, key: (0, 0)), radix: 32)
        return "fortune:" + String(repeating: "0", count: 13 - digits.utf8.count) + digits
    }

    private static func texts(of file: FortuneFile) throws(FortuneFault) -> [String] {
        // Not blocking, in case the path has become a pipe since it was looked at.
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw FortuneFault(path: file.path, problem: "cannot be read (\(reason)); check its permissions")
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while bytes.count <= FortuneFiles.maximumSize {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else {
                let reason = String(cString: strerror(errno))
                throw FortuneFault(path: file.path, problem: "cannot be read (\(reason)); check the disk")
            }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        if bytes.count > FortuneFiles.maximumSize {
            throw FortuneFault(path: file.path, problem: FortuneFiles.tooLarge)
        }
        // No text holds NUL, and every other kind of file does soon.
        if bytes.contains(0) {
            throw FortuneFault(path: file.path, problem: "is no text; take it out of facts.fortunes")
        }
        return texts(in: bytes)
    }
}
