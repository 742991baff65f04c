import CExpat
import Glibc

/// Reads XML with Expat, and of XML only what a feed needs: elements, attributes and text, with namespaces.
///
/// No entity is ever expanded, and nothing outside of the document is read: a document with declarations of its own is
/// refused where they begin, for entities and default attributes make much of little. The names that HTML knows
/// (`&nbsp;`) are understood without being declared, for feeds use them.
final class XMLReader {
    /// Where a document is not well-formed.
    struct SyntaxError: Equatable {
        /// As the end of a sentence that begins with the upstream's name.
        let fault: String
        let isUnboundPrefix: Bool
    }

    /// Of the URI of a namespace and of `xml:base`, in bytes: each is stored for as many elements as a document has.
    static let maximumURI = 2048
    /// Of one tag, in bytes; a picture may stand in it as Base64.
    private static let maximumTag = 4 << 20
    /// Of one tag: Expat has them all at the same time, each in many times its size.
    private static let maximumAttributes = 10_000
    /// The number of names that are remembered; a feed has some tens.
    private static let maximumNames = 4096
    /// The size of a name in the tables of Expat, which keep it as long as the parser lives, and here; in bytes.
    private static let nameCost = 256
    /// The size of a declaration of a namespace there.
    private static let namespaceCost = 128

    private let parser: XML_Parser
    private let sections: XMLSections
    private let budget: DecodingBudget
    private var depth = 0
    /// By their text in Expat.
    private var names: [String: XMLName] = [:]
    private var failure: UpstreamError?

    /// Reads a whole document into its sections.
    ///
    /// - Parameter document: in UTF-8, as ``documentText(_:contentType:_:)`` makes it.
    /// - Returns: nil if all of it was read; else why it was not.
    /// - Throws: an error with its line; the errors of `sections` and the budget.
    static func read(
        _ document: [UInt8], _ sections: XMLSections, _ budget: DecodingBudget
    ) throws(UpstreamError) -> SyntaxError? {
        for (kind, range) in XMLTokens(document) {
            budget.read(bytes: range.count)
            try budget.check()
            guard kind == .startTag || kind == .emptyTag, range.count > maximumAttributes else { continue }
            if range.count > maximumTag {
                throw .unusable("answered with XML in which a tag is longer than \(maximumTag >> 20) MiB")
            }
            // Each has one, and few values have more.
            if document[range].count(where: { $0 == "=" }) > maximumAttributes {
                throw .unusable("answered with XML in which a tag has more than \(maximumAttributes) attributes")
            }
        }
        var document = document
        // It may not stand behind white space, and its encoding is no longer true.
        if let declaration = xmlDeclaration(document) {
            for index in declaration where !isWhiteSpace(document[index]) { document[index] = UInt8(ascii: " ") }
        }
        guard let length = Int32(exactly: document.count),
            let parser = XML_ParserCreateNS("UTF-8", XML_Char(bitPattern: XMLName.separator))
        else { throw .unusable("answered with XML that is too large") }
        defer { XML_ParserFree(parser) }
        return try XMLReader(parser, sections, budget).read(document, length)
    }

    private init(_ parser: XML_Parser, _ sections: XMLSections, _ budget: DecodingBudget) {
        self.parser = parser
        self.sections = sections
        self.budget = budget
    }

    private func read(_ document: [UInt8], _ length: Int32) throws(UpstreamError) -> SyntaxError? {
        setHandlers()
        // All at once: Expat reads an unfinished token again from its beginning with each further piece.
        let status = document.withUnsafeBytes { bytes in
            XML_Parse(parser, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), length, 1)
        }
        // The callbacks reach this object through a pointer that does not keep it.
        withExtendedLifetime(self) {}
        if let failure { throw failure }
        if status == XML_STATUS_OK { return nil }
        let code = XML_GetErrorCode(parser)
        let reason = XML_ErrorString(code).map { String(cString: $0) } ?? "not well-formed"
        return SyntaxError(
            fault: "answered with XML that is broken in line \(line): \(reason)",
            isUnboundPrefix: code == XML_ERROR_UNBOUND_PREFIX
        )
    }

    private var line: UInt { XML_GetCurrentLineNumber(parser) }

    private func setHandlers() {
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser,
            { data, name, attributes in XMLReader.of(data).start(name, attributes) },
            { data, _ in XMLReader.of(data).end() }
        )
        XML_SetCharacterDataHandler(parser) { data, text, length in XMLReader.of(data).text(text, length) }
        XML_SetStartNamespaceDeclHandler(parser) { data, _, uri in XMLReader.of(data).namespace(uri) }
        XML_SetStartDoctypeDeclHandler(parser) { data, _, _, _, hasDeclarations in
            if hasDeclarations != 0 { XMLReader.of(data).refuseDeclarations() }
        }
        // As if there were declarations that nobody has read: an entity that is not known is passed on by its name
        // then, in place of an error.
        XML_UseForeignDTD(parser, 1)
        XML_SetParamEntityParsing(parser, XML_PARAM_ENTITY_PARSING_NEVER)
        XML_SetSkippedEntityHandler(parser) { data, name, isParameter in
            if isParameter == 0 { XMLReader.of(data).skippedEntity(name) }
        }
    }

    private static func of(_ data: UnsafeMutableRawPointer?) -> XMLReader {
        // `setHandlers` set it before anything was parsed, and `read` keeps the object until everything is.
        Unmanaged<XMLReader>.fromOpaque(data!).takeUnretainedValue()
    }

    // MARK: Callbacks

    private func start(
        _ name: UnsafePointer<XML_Char>?, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
    ) {
        attempt { () throws(UpstreamError) in
            depth += 1
            budget.spend(elements: 1)
            try budget.check()
            guard depth <= budget.limits.depth else {
                throw .unusable("answered with XML that is nested too deeply, in line \(line)")
            }
            guard let name, var next = attributes else { return }
            var list: [(name: XMLName, value: String)] = []
            // Name and value by turns, and nil at the end.
            while let name = next[0], let value = next[1] {
                let (name, value) = (self.name(name), String(cString: value))
                budget.spend(bytes: value.utf8.count)
                budget.spend(elements: 1)
                if name == XMLName("base", in: .xml), value.utf8.count > Self.maximumURI { throw tooLong("xml:base") }
                list.append((name, value))
                next += 2
            }
            let element = self.name(name)
            try budget.check()
            try sections.start(element, list)
        }
    }

    /// Each name is made once, however many elements have it.
    private func name(_ expanded: UnsafePointer<XML_Char>) -> XMLName {
        let expanded = String(cString: expanded)
        if let name = names[expanded] { return name }
        budget.spend(bytes: expanded.utf8.count + Self.nameCost)
        let name = XMLName(expanded: expanded)
        if names.count < Self.maximumNames { names[expanded] = name }
        return name
    }

    private func namespace(_ uri: UnsafePointer<XML_Char>?) {
        attempt { () throws(UpstreamError) in
            let length = uri.map { strlen($0) } ?? 0
            guard length <= Self.maximumURI else { throw tooLong("the name of a namespace") }
            budget.spend(bytes: length + Self.namespaceCost)
            try budget.check()
        }
    }

    private func refuseDeclarations() {
        attempt { () throws(UpstreamError) in
            let place = "in line \(line); norrisd refuses them"
            throw .unusable("answered with XML whose document type has declarations, \(place)")
        }
    }

    private func tooLong(_ what: String) -> UpstreamError {
        .unusable("answered with XML in which \(what) is longer than \(Self.maximumURI) bytes, in line \(line)")
    }

    private func end() {
        attempt { () throws(UpstreamError) in
            depth -= 1
            try sections.end()
        }
    }

    private func text(_ text: UnsafePointer<XML_Char>?, _ length: Int32) {
        attempt { () throws(UpstreamError) in
            budget.spend(bytes: Int(length))
            try budget.check()
            sections.text(UnsafeRawBufferPointer(start: text, count: Int(length)))
        }
    }

    private func skippedEntity(_ name: UnsafePointer<XML_Char>?) {
        guard failure == nil, let name else { return }
        budget.spend(elements: 1)
        let reference = Array("&\(String(cString: name));".utf8)
        let entity = htmlEntity(reference[...])
        sections.text(entity.map { Array($0.text.utf8) } ?? reference)
    }

    /// Does it unless there was an error, for some callbacks still come behind one; the first ends the parse.
    private func attempt(_ body: () throws(UpstreamError) -> Void) {
        guard failure == nil else { return }
        do throws(UpstreamError) {
            try body()
        } catch {
            failure = error
            XML_StopParser(parser, 0)
        }
    }
}
