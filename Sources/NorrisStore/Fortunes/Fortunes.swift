import Glibc
import NorrisProtocol
import NorrisSystem
import NorrisText

/// A fortune file.
struct FortuneFile: Equatable, Sendable {
    let path: String
    /// The file's name, which is also its category if the name is valid.
    let name: String
    let size: Int
    fileprivate let identity: FileIdentity
    /// The times of the file and of `NAME.dat`.
    fileprivate let modified: String
}

/// The reason why a fortune file or folder was not read, and the correction.
typealias FortuneFault = (path: String, problem: String)

/// The fortune files of the configured paths: folders with all files below them, each file once.
///
/// As in fortune(6), `NAME.dat`, `NAME.u8` and names that begin with a dot are no fortune files, and the folder `off`
/// with offensive texts is read only if configured by name.
struct FortuneFiles {
    private(set) var files: [FortuneFile] = []
    private(set) var faults: [FortuneFault] = []
    private var seen: Set<FileIdentity> = []

    static func find(_ paths: [String]) -> FortuneFiles {
        var found = FortuneFiles()
        for path in paths { found.visit(path) }
        return found
    }

    /// Changes when a file or its `NAME.dat` is added, changed or removed, or a fault begins or ends.
    var digest: String {
        let marks =
            files.map { "\($0.path)\0\($0.size)\0\($0.identity)\0\($0.modified)\n" }
            + faults.map { $0.path + $0.problem }
        return String(SipHash.hash(ofTexts: marks), radix: 16)
    }

    private mutating func visit(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            return refuse(path, "cannot be read (\(SystemError.reason())); check facts.fortunes")
        }
        let identity = FileIdentity(status)
        // A file or folder that is reached twice, by links or names, is read once; this also ends a loop of links.
        guard seen.insert(identity).inserted else { return }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: visitFolder(path)
        case S_IFREG:
            var format = stat()
            let hasFormat = stat(path + ".dat", &format) == 0
            files.append(
                FortuneFile(
                    path: path, name: lastComponent(of: path), size: Int(status.st_size), identity: identity,
                    modified: "\(status.st_mtim) \(hasFormat ? "\(format.st_mtim)" : "")"))
        default: refuse(path, "is neither a file nor a folder; take it out of facts.fortunes")
        }
    }

    private mutating func visitFolder(_ path: String) {
        guard let folder = opendir(path) else {
            return refuse(path, "cannot be listed (\(SystemError.reason())); check its permissions")
        }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if isRead(name) { names.append(name) }
        }
        // Closed before the folders in it are opened, because otherwise deep folders could use all descriptors.
        closedir(folder)
        let base = path.utf8.last == UInt8(ascii: "/") ? path : path + "/"
        // Sorted, so that the order of equal texts does not depend on the file system.
        for name in names.sorted() { visit(base + name) }
    }

    private func isRead(_ name: String) -> Bool {
        !name.utf8.starts(with: ".".utf8) && name != "off" && !name.hasSuffix(".dat") && !name.hasSuffix(".u8")
    }

    private mutating func refuse(_ path: String, _ problem: String) { faults.append((path, problem)) }
}

/// The last component of a path.
func lastComponent(of path: String) -> String {
    // Splits bytes, because a combining mark after the slash would form one character with it.
    path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? path
}

/// The facts of fortune files, until a catalogue is built of them.
///
/// As in fortune(6), a text ends at a line with only the delimiter, which is `%` unless `NAME.dat` has another one, and
/// texts that are rotated are decoded (strfile(1)). Empty texts and texts above ``Fact/maximumLength`` are omitted.
struct Fortunes {
    private(set) var facts: [Fact] = []
    /// The number of texts beyond the limits of a ``FactCatalogue``.
    private(set) var leftOut = 0
    private(set) var faults: [FortuneFault] = []
    private var bytes = 0

    /// The bytes that are read at a time.
    private static let blockSize = 1 << 20
    /// The longest text of a file; more than a fact of ``Fact/maximumLength`` with overstrikes.
    private static let maximumTextBytes = 256 << 10

    /// Adds the texts of a file, or a fault. The time is proportional to the size of the file; the memory is not.
    mutating func read(_ file: FortuneFile, isCancelled: () -> Bool = { false }) {
        do throws(SystemError) {
            // O_NONBLOCK, because the path may have become a pipe.
            let descriptor = try openFile(file.path, O_RDONLY | O_NONBLOCK)
            defer { close(descriptor) }
            let format = FortuneFormat(besides: file.path)
            var (text, line): ([UInt8], [UInt8]) = ([], [])
            // A file that grows while it is read ends at the size that it had.
            var unread = file.size
            while unread > 0, !isCancelled() {
                let block = try readAll(descriptor, limit: min(Fortunes.blockSize, unread) - 1).prefix(unread)
                if block.isEmpty { break }
                unread -= block.count
                // No text contains a NUL, and nearly every binary file does.
                if block.contains(0) {
                    return faults.append((file.path, "is no text; take it out of facts.fortunes"))
                }
                var rest = block
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    if line.count <= Fortunes.maximumTextBytes { line += rest[..<end] }
                    take(&line, &text, file, format)
                    rest = rest[(end + 1)...]
                }
                if line.count <= Fortunes.maximumTextBytes { line += rest }
            }
            take(&line, &text, file, format)
            add(text, file, format)
        } catch {
            faults.append(
                (file.path, "cannot be read (\(error.reason)); check its permissions and the disk"))
        }
    }

    /// Adds a line to the current text, or ends the text at a delimiter.
    private mutating func take(
        _ line: inout [UInt8], _ text: inout [UInt8], _ file: FortuneFile, _ format: FortuneFormat
    ) {
        if format.isDelimiter(line) {
            add(text, file, format)
            text.removeAll(keepingCapacity: true)
        } else if text.count <= Fortunes.maximumTextBytes {
            text += line
            text.append(UInt8(ascii: "\n"))
        }
        line.removeAll(keepingCapacity: true)
    }

    private mutating func add(_ text: [UInt8], _ file: FortuneFile, _ format: FortuneFormat) {
        let isBlank = text.allSatisfy { $0 == UInt8(ascii: " ") || 0x09...0x0D ~= $0 }
        guard !isBlank, text.count <= Fortunes.maximumTextBytes else { return }
        guard facts.count < FactCatalogue.maximumCount, bytes + text.count <= FactCatalogue.maximumTextBytes else {
            leftOut += 1
            return
        }
        let decoded = Fortunes.trimmed(sanitizedText(format.decoded(text)))
        guard !decoded.isEmpty, decoded.unicodeScalars.count <= Fact.maximumLength else { return }
        bytes += decoded.utf8.count
        facts.append(
            Fact(
                id: Fortunes.id(of: decoded), text: decoded,
                categories: Fact.isCategoryName(file.name) ? [file.name] : [], source: "fortune:\(file.name)"))
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
        "fortune:" + SipHash.hash(text).digits(radix: 32, width: 13)
    }
}

/// How the texts of a fortune file are separated and encoded, from the header of `NAME.dat` (strfile(1)).
struct FortuneFormat {
    private var delimiter = UInt8(ascii: "%")
    private var isRotated = false

    /// - Parameter path: the file with the texts. Without a usable header, the delimiter is `%`.
    init(besides path: String) {
        guard let descriptor = try? openFile(path + ".dat", O_RDONLY | O_NONBLOCK) else { return }
        defer { close(descriptor) }
        // Five numbers of 32 bits, most significant byte first: version, three counts and flags; then the delimiter.
        var header = [UInt8](repeating: 0, count: 21)
        guard Glibc.read(descriptor, &header, header.count) == header.count, (1...2).contains(header[3]),
            header[..<3].allSatisfy({ $0 == 0 }), 0x21...0x7E ~= header[20]
        else { return }
        isRotated = header[19] & 4 != 0
        delimiter = header[20]
    }

    func isDelimiter(_ line: [UInt8]) -> Bool {
        line.first == delimiter && (line.count == 1 || line.count == 2 && line[1] == UInt8(ascii: "\r"))
    }

    /// The text without rotation and overstrikes. Bytes that are no UTF-8 are Latin-1.
    func decoded(_ bytes: [UInt8]) -> String {
        var bytes = FortuneFormat.withoutOverstrikes(bytes)
        if isRotated { for index in bytes.indices { bytes[index] = FortuneFormat.rotated(bytes[index]) } }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        var text = ""
        var rest = bytes[...]
        while let first = rest.first {
            let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
            if let character = String(validating: rest.prefix(length), as: UTF8.self) {
                text += character
                rest = rest.dropFirst(length)
            } else {
                text.unicodeScalars.append(Unicode.Scalar(first))
                rest = rest.dropFirst()
            }
        }
        return text
    }

    /// Moves a letter by 13 places in the alphabet.
    private static func rotated(_ byte: UInt8) -> UInt8 {
        let letter = byte & ~0x20
        guard 0x41...0x5A ~= letter else { return byte }
        return letter < 0x4E ? byte + 13 : byte - 13
    }

    /// Removes the overstrikes of old files, which underline and embolden like typewriters, with a backspace between
    /// two characters: the second character stays.
    private static func withoutOverstrikes(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(0x08) else { return bytes }
        var kept: [UInt8] = []
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
}
