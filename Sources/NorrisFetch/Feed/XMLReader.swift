import CExpat
import Glibc
import NorrisText

/// Reads the parts of XML that a feed needs, with Expat: elements, attributes and text, with namespaces. Nothing
/// outside the document is read. Entities are never expanded, and declarations in the document type are refused,
/// because both let a small document grow. HTML entities such as `&nbsp;` need no declaration, because feeds use them.
final class XMLReader {
    struct SyntaxError {
        enum Kind {
            case malformed
            case unboundPrefix
            /// The document is cut off; everything before the end was read.
            case cut
            /// Content follows the root, which was read completely.
            case junk
        }

        let kind: Kind
        /// The end of a sentence that begins with the upstream's name.
        let fault: String
    }

    /// Feeds are much less deep.
    static let maximumDepth = 256
    /// The longest URI of a namespace or `xml:base`, in bytes. Each element may store one.
    private static let maximumURI = 2048
    /// The largest number of attributes of a tag. Expat stores them at the same time, each in many times its size.
    private static let maximumAttributes = 10_000
    /// The longest tag, in bytes. Expat stores several copies.
    private static let maximumTag = 2 << 20
    /// The approximate size of the pieces for Expat, which copies each piece, in bytes.
    private static let pieceSize = 256 << 10
    /// The largest number of elements in a section; further elements are dropped.
    private static let maximumElements = 10_000
    /// The memory limit of texts and attributes in a section, in bytes; further ones are dropped.
    private static let maximumSection = 4 << 20
    /// The memory of an attribute without its value, including array growth, in bytes.
    private static let attributeCost = 2 * MemoryLayout<(XMLName, String)>.stride
    private static let roots: Set<XMLName> = [XMLName("rss"), XMLName("RDF", in: .rdf), XMLName("feed", in: .atom)]

    private let parser: XML_Parser
    private let section: (XMLElement) throws(UpstreamError) -> Void
    /// The base URLs of the document and of the open elements that contain sections.
    private var bases: [HTTPURL]
    /// The open elements of the section, the outermost first.
    private var open: [XMLElement] = []
    private var pending: [UInt8] = []
    private var elements = 0
    private var sectionMemory = 0
    /// The depth inside a dropped element.
    private var dropped = 0
    private var depth = 0
    private var hasRoot = false
    /// The names by their text in Expat.
    private var names: [String: XMLName] = [:]
    private var failure: UpstreamError?

    /// Reads a document in UTF-8, and overwrites its XML declaration with spaces.
    ///
    /// - Parameter section: receives each child of the root and of its channel.
    /// - Returns: nil if the whole document was read, otherwise the fault.
    static func read(
        _ document: inout [UInt8], base: HTTPURL,
        section: @escaping (XMLElement) throws(UpstreamError) -> Void
    ) throws(UpstreamError) -> SyntaxError? {
        // Expat refuses a declaration after white space, and the declared encoding is outdated.
        if let declaration = xmlDeclaration(document) {
            for index in declaration where !isWhiteSpace(document[index]) { document[index] = UInt8(ascii: " ") }
        }
        guard let parser = XML_ParserCreateNS("UTF-8", XML_Char(UInt8(ascii: XMLName.separator))) else {
            throw .unusable("answered with XML, and norrisd has no memory to read it")
        }
        defer { XML_ParserFree(parser) }
        let reader = XMLReader(parser, base, section)
        // Expat's pointer to the reader does not retain it.
        defer { withExtendedLifetime(reader) {} }
        return try reader.read(document)
    }

    /// Passes a document to Expat in pieces that end between tokens, because Expat reads an unfinished token again from
    /// its beginning with each further piece. A text may be cut anywhere.
    private func read(_ document: [UInt8]) throws(UpstreamError) -> SyntaxError? {
        var start = 0
        for (kind, range) in XMLTokens(document) {
            if kind == .startTag || kind == .emptyTag { try checkTag(document[range]) }
            while kind == .text || kind == .section, range.upperBound - start > 2 * Self.pieceSize {
                guard try parse(document, start..<start + Self.pieceSize) else { return syntaxError }
                start += Self.pieceSize
            }
            if range.upperBound - start > Self.pieceSize {
                guard try parse(document, start..<range.upperBound) else { return syntaxError }
                start = range.upperBound
            }
        }
        return try parse(document, start..<document.count, isLast: true) ? nil : syntaxError
    }

    /// Passes a piece to Expat. Returns false if the document is not well-formed.
    private func parse(_ document: [UInt8], _ piece: Range<Int>, isLast: Bool = false) throws(UpstreamError) -> Bool {
        // Counts Expat's buffer and its copies of a long tag.
        let status = document.withUnsafeBytes { bytes in
            XML_Parse(
                parser, (bytes.baseAddress?.assumingMemoryBound(to: CChar.self)).map { $0 + piece.lowerBound },
                Int32(clamping: piece.count), isLast ? 1 : 0)
        }
        if let failure { throw failure }
        return status == XML_STATUS_OK
    }

    private func checkTag(_ tag: ArraySlice<UInt8>) throws(UpstreamError) {
        if tag.count > Self.maximumTag {
            throw .unusable("answered with XML in which a tag is longer than \(Self.maximumTag >> 20) MiB")
        }
        // Each attribute has an equals sign, and few values contain one.
        if tag.count > Self.maximumAttributes, tag.count(where: { $0 == "=" }) > Self.maximumAttributes {
            throw .unusable("answered with XML in which a tag has more than \(Self.maximumAttributes) attributes")
        }
    }

    private init(
        _ parser: XML_Parser, _ base: HTTPURL,
        _ section: @escaping (XMLElement) throws(UpstreamError) -> Void
    ) {
        self.parser = parser
        self.section = section
        bases = [base]
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser,
            { data, name, attributes in
                XMLReader.attempt(data) { reader throws(UpstreamError) in try reader.start(name, attributes) }
            }, { data, _ in XMLReader.attempt(data) { reader throws(UpstreamError) in try reader.end() } })
        XML_SetCharacterDataHandler(parser) { data, text, length in
            let bytes = UnsafeRawBufferPointer(start: text, count: Int(length))
            XMLReader.attempt(data) { reader throws(UpstreamError) in try reader.append(bytes) }
        }
        XML_SetStartNamespaceDeclHandler(parser) { data, _, uri in
            XMLReader.attempt(data) { reader throws(UpstreamError) in try reader.namespace(uri) }
        }
        XML_SetStartDoctypeDeclHandler(parser) { data, _, _, _, hasDeclarations in
            XMLReader.attempt(data) { reader throws(UpstreamError) in
                let fault = "answered with XML whose document type has declarations, in line \(reader.line); norrisd"
                if hasDeclarations != 0 { throw .unusable("\(fault) refuses them") }
            }
        }
        // With a foreign DTD, Expat passes an unknown entity to the handler by its name instead of reporting an error.
        XML_UseForeignDTD(parser, 1)
        XML_SetParamEntityParsing(parser, XML_PARAM_ENTITY_PARSING_NEVER)
        XML_SetSkippedEntityHandler(parser) { data, name, isParameter in
            guard isParameter == 0, let name else { return }
            let reference = Array("&\(String(cString: name));".utf8)
            let text = htmlEntity(reference[...]).map { Array($0.text.utf8) } ?? reference
            XMLReader.attempt(data) { reader throws(UpstreamError) in try reader.append(text) }
        }
    }

    private var line: UInt { XML_GetCurrentLineNumber(parser) }

    private var syntaxError: SyntaxError {
        let code = XML_GetErrorCode(parser)
        let kind: SyntaxError.Kind =
            switch code {
            case _ where hasRoot && depth == 0: .junk
            case XML_ERROR_UNBOUND_PREFIX: .unboundPrefix
            case XML_ERROR_NO_ELEMENTS, XML_ERROR_UNCLOSED_TOKEN, XML_ERROR_UNCLOSED_CDATA_SECTION: .cut
            default: .malformed
            }
        let reason = XML_ErrorString(code).map { String(cString: $0) } ?? "not well-formed"
        return SyntaxError(kind: kind, fault: "answered with XML that is broken in line \(line): \(reason)")
    }

    // MARK: Callbacks

    /// Calls a method, unless a callback has failed. An error stops the parser, but some callbacks may still follow.
    private static func attempt(_ data: UnsafeMutableRawPointer?, _ body: (XMLReader) throws(UpstreamError) -> Void) {
        // `init` passes the reader to Expat before parsing, and `read` retains the reader until parsing ends.
        let reader = Unmanaged<XMLReader>.fromOpaque(data!).takeUnretainedValue()
        guard reader.failure == nil else { return }
        do throws(UpstreamError) {
            try body(reader)
        } catch {
            reader.failure = error
            XML_StopParser(reader.parser, 0)
        }
    }

    private func start(
        _ name: UnsafePointer<XML_Char>?, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
    ) throws(UpstreamError) {
        (depth, hasRoot) = (depth + 1, true)
        guard depth <= Self.maximumDepth else {
            throw .unusable("answered with XML that is nested too deeply, in line \(line)")
        }
        guard let name, var next = attributes else { return }
        let element = try self.name(name)
        let outer = open.last?.base ?? bases[bases.count - 1]
        var base = outer
        var list: [(name: XMLName, value: String)] = []
        // Names and values alternate; nil ends the list.
        while let name = next[0], let value = next[1] {
            let (name, value) = (try self.name(name), String(cString: value))
            if name == XMLName("base", in: .xml) {
                guard value.utf8.count <= Self.maximumURI else { throw tooLong("xml:base") }
                base = outer.resolving(value) ?? outer
                // Keeps the base of the parent, because nested bases could grow with each element.
                if base.description.utf8.count > Self.maximumURI { base = outer }
            }
            // A longer attribute is useless, because no field permits it.
            if dropped == 0, let value = TextField.line.cut(value), takeMemory(value.utf8.count + Self.attributeCost) {
                list.append((name, value))
            }
            next += 2
        }
        if dropped > 0 || elements >= Self.maximumElements { return dropped += 1 }
        if open.isEmpty, try holdsSections(element) {
            releaseMemory()
            return bases.append(base)
        }
        flush()
        elements += 1
        sectionMemory += XMLElement.memory
        open.append(XMLElement(name: element, attributes: list, base: base))
    }

    private func holdsSections(_ name: XMLName) throws(UpstreamError) -> Bool {
        if bases.count > 1 { return bases.count == 2 && name == XMLName("channel") }
        if Self.roots.contains(name) { return true }
        let root = UpstreamError.cut(name.local, to: 40)
        throw .unusable("answered with XML that is not a feed (its root is \(root)); is url right?")
    }

    /// Returns the shared instance of a name.
    private func name(_ expanded: UnsafePointer<XML_Char>) throws(UpstreamError) -> XMLName {
        // Expat stores the names of all open elements.
        guard strlen(expanded) <= 2 * Self.maximumURI else { throw tooLong("a name") }
        let expanded = String(cString: expanded)
        if let name = names[expanded] { return name }
        let name = XMLName(expanded: expanded)
        names[expanded] = name
        return name
    }

    private func namespace(_ uri: UnsafePointer<XML_Char>?) throws(UpstreamError) {
        let length = uri.map { strlen($0) } ?? 0
        guard length <= Self.maximumURI else { throw tooLong("the name of a namespace") }
    }

    private func tooLong(_ what: String) -> UpstreamError {
        .unusable("answered with XML in which \(what) is longer than \(Self.maximumURI) bytes, in line \(line)")
    }

    private func end() throws(UpstreamError) {
        depth -= 1
        if dropped > 0 { return dropped -= 1 }
        flush()
        guard let element = open.popLast() else {
            bases.removeLast()
            return
        }
        if open.isEmpty {
            elements = 0
            try section(element)
            releaseMemory()
        } else {
            open[open.count - 1].append(element)
        }
    }

    /// Takes memory for a text of the section. Returns false if the caller must drop the text.
    private func takeMemory(_ count: Int) -> Bool {
        guard sectionMemory + count <= Self.maximumSection else { return false }
        sectionMemory += count
        return true
    }

    private func releaseMemory() {
        sectionMemory = 0
    }

    private func append(_ text: some Collection<UInt8>) throws(UpstreamError) {
        guard dropped == 0, !open.isEmpty else { return }
        // No field permits a longer text.
        pending += text.prefix(max(TextField.text.limit - pending.count, 0))
    }

    /// Adds the text since the last tag to the innermost element.
    private func flush() {
        guard !pending.isEmpty else { return }
        if !open.isEmpty, takeMemory(pending.count + XMLElement.memory) {
            open[open.count - 1].append(String(decoding: pending, as: UTF8.self))
        }
        pending.removeAll(keepingCapacity: true)
    }
}
