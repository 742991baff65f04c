/// Repairs common faults of a feed that is not well-formed, and counts them. The parser refuses any other fault.
///
/// - An `&` that begins no reference becomes `&amp;`, in texts and in values.
/// - Inside an element with a text (a description, a content, a title), tags of HTML and any `<` that begins no tag
///   become part of the text, so that these tags need neither end nor match.
struct RepairedXML {
    private(set) var document: [UInt8] = []
    private(set) var repairs = 0

    private let source: [UInt8]
    /// The names of the open elements with their prefixes, as ranges in ``source``.
    private var open: [Range<Int>] = []
    /// The outermost open text element: its depth, and, if it has no `type`, the index in ``document`` to insert one.
    private var text: (depth: Int, typeIndex: Int?)?

    /// The elements of RSS, Atom and their extensions that contain a text.
    private static let texts: Set<String> = ["content", "description", "encoded", "subtitle", "summary", "title"]

    init(_ source: [UInt8]) throws(UpstreamError) {
        self.source = source
        document.reserveCapacity(source.count + 1024)
        for (kind, range) in XMLTokens(source) {
            switch kind {
            case .text where source[range.lowerBound] != "<": copyWithReferences(range)
            case .text where text != nil: escape(range)
            case .startTag, .emptyTag: try takeStart(range, isEmpty: kind == .emptyTag)
            case .endTag: takeEnd(range)
            case .text, .comment, .section, .instruction, .declaration, .cut: document += source[range]
            }
        }
    }

    private mutating func takeStart(_ range: Range<Int>, isEmpty: Bool) throws(UpstreamError) {
        let name = name(in: range, at: range.lowerBound + 1)
        if text != nil, isHTML(name) { return escape(range) }
        let holdsText = Self.texts.contains(local(name))
        // Attributes of a long tag are not parsed, because they would take many times its size.
        let isShort = range.count <= 4096
        let attributes = holdsText && isShort ? tagAttributes(source[name.upperBound..<range.upperBound - 1]) : []
        let type = attributes.first { $0.name.elementsEqual("type".utf8) }?.value
        if let type, ["xhtml", "application/xhtml+xml"].contains(String(decoding: type, as: UTF8.self)) {
            // The tags of the content become text, so that XHTML becomes HTML.
            copyWithReferences(range.lowerBound..<type.startIndex)
            document += "html".utf8
            copyWithReferences(type.endIndex..<range.upperBound)
        } else {
            copyWithReferences(range)
        }
        if isEmpty { return }
        if holdsText, text == nil { text = (open.count, type == nil ? document.count - 1 : nil) }
        open.append(name)
        guard open.count <= XMLReader.maximumDepth else {
            throw .unusable("answered with XML that is nested too deeply")
        }
    }

    private mutating func takeEnd(_ range: Range<Int>) {
        let name = name(in: range, at: range.lowerBound + 2)
        if let last = open.last, source[last].elementsEqual(source[name]) {
            open.removeLast()
            if text?.depth == open.count { text = nil }
        } else if text != nil, isHTML(name) {
            return escape(range)
        }
        document += source[range]
    }

    /// Converts a tag to text, which changes the type of the text around it to HTML.
    private mutating func escape(_ range: Range<Int>) {
        if range.count > 1, let index = text?.typeIndex {
            document.insert(contentsOf: " type=\"html\"".utf8, at: index)
            text?.typeIndex = nil
        }
        repairs += 1
        for byte in source[range] {
            switch byte {
            case "<": document += "&lt;".utf8
            case ">": document += "&gt;".utf8
            case "&": document += "&amp;".utf8
            default: document.append(byte)
            }
        }
    }

    private mutating func copyWithReferences(_ range: Range<Int>) {
        var copied = range.lowerBound
        for index in range where source[index] == "&" && !isReference(source[index..<range.upperBound]) {
            document += source[copied...index]
            document += "amp;".utf8
            copied = index + 1
            repairs += 1
        }
        document += source[copied..<range.upperBound]
    }

    /// Whether the bytes begin with `&name;` or the number of a character that XML permits.
    private func isReference(_ bytes: ArraySlice<UInt8>) -> Bool {
        let name = bytes.dropFirst().prefix(40).prefix { $0 != ";" }
        guard name.endIndex < bytes.endIndex, bytes[name.endIndex] == ";", let first = name.first else { return false }
        guard first == "#" else { return isLetter(first) && name.allSatisfy(isLetterOrDigit) }
        let isHex = name.dropFirst().first == "x"
        let digits = String(decoding: name.dropFirst(isHex ? 2 : 1), as: UTF8.self)
        // `UInt32(_:radix:)` would accept a sign.
        guard digits.first?.isHexDigit == true, let number = UInt32(digits, radix: isHex ? 16 : 10),
            Unicode.Scalar(number) != nil
        else { return false }
        return number >= 0x20 && number != 0xFFFE && number != 0xFFFF || [9, 10, 13].contains(number)
    }

    private func name(in tag: Range<Int>, at start: Int) -> Range<Int> {
        var end = start
        while end < tag.upperBound - 1, !isWhiteSpace(source[end]), source[end] != "/" { end += 1 }
        return start..<end
    }

    /// The name without its prefix; empty if the name is longer than any known name.
    private func local(_ name: Range<Int>) -> String {
        guard name.count <= 64 else { return "" }
        return String(decoding: source[name].split(separator: UInt8(ascii: ":")).last ?? [], as: UTF8.self)
    }

    private func isHTML(_ name: Range<Int>) -> Bool {
        name.count <= 16 && HTMLTag.isKnown(String(decoding: source[name], as: UTF8.self).lowercased())
    }
}
