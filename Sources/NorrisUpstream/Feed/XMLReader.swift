import CExpat

/// Takes what ``XMLReader`` finds in a document, in its order.
protocol XMLHandler: AnyObject {
    func start(_ name: XMLName, _ attributes: [(name: XMLName, value: String)]) throws(UnusableBody)
    func end() throws(UnusableBody)
    /// A piece of text; what belongs together may come in several.
    func text(_ bytes: some Collection<UInt8>)
}

/// Reads XML with Expat, and of XML only what a feed needs: elements, attributes and text, with namespaces.
///
/// No entity is ever expanded, nor anything outside of the document asked for: a document that declares an entity is
/// refused at the declaration, before any use of it could grow. The names that HTML knows (`&nbsp;`) are understood
/// without being declared, for feeds use them.
final class XMLReader {
    /// Of open elements; what a feed means stands far above.
    static let maximumDepth = 256

    /// How the fault of a document ends in which a prefix is not declared.
    static var unboundPrefix: String { reason(XML_ERROR_UNBOUND_PREFIX) }

    private let parser: XML_Parser
    private let handler: any XMLHandler
    private var depth = 0
    private var elements = 0
    private var fault: UnusableBody?

    /// Reads a whole document, while `handler` takes what is found.
    ///
    /// - Parameter document: in UTF-8, as ``documentText(_:contentType:)`` makes it.
    /// - Throws: a fault with its line; what `handler` throws; `cancelled` in a cancelled task.
    static func read(_ document: [UInt8], _ handler: any XMLHandler) throws(UnusableBody) {
        var document = document
        // It may not stand behind white space, and what it says of the encoding is no longer true.
        if let declaration = xmlDeclaration(document) {
            for index in declaration where !isWhiteSpace(document[index]) { document[index] = UInt8(ascii: " ") }
        }
        guard let length = Int32(exactly: document.count),
            let parser = XML_ParserCreateNS("UTF-8", XML_Char(bitPattern: XMLName.separator))
        else { throw .fault("answered with XML that is too large") }
        defer { XML_ParserFree(parser) }
        try XMLReader(parser, handler).read(document, length)
    }

    private init(_ parser: XML_Parser, _ handler: any XMLHandler) {
        self.parser = parser
        self.handler = handler
    }

    private func read(_ document: [UInt8], _ length: Int32) throws(UnusableBody) {
        setHandlers()
        // All at once: Expat looks at an unfinished token again from its beginning with each further piece.
        let status = document.withUnsafeBytes { bytes in
            XML_Parse(parser, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), length, 1)
        }
        // The callbacks reach this object through a pointer that does not keep it.
        withExtendedLifetime(self) {}
        if let fault { throw fault }
        if status != XML_STATUS_OK {
            throw .fault(
                "answered with XML that is broken in line \(line): \(Self.reason(XML_GetErrorCode(parser)))"
            )
        }
    }

    private static func reason(_ code: XML_Error) -> String {
        XML_ErrorString(code).map { String(cString: $0) } ?? "not well-formed"
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
        XML_SetEntityDeclHandler(parser) { data, name, _, _, _, _, _, _, _ in XMLReader.of(data).entity(name) }
        // As if there were declarations that nobody has read: an entity that is not known is handed out by its name
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
        attempt { () throws(UnusableBody) in
            depth += 1
            elements += 1
            if elements % 256 == 0, Task.isCancelled { throw .cancelled }
            guard depth <= Self.maximumDepth else {
                throw .fault("answered with XML that is nested too deeply, in line \(line)")
            }
            guard let name, var next = attributes else { return }
            var list: [(name: XMLName, value: String)] = []
            // Name and value by turns, and nil at the end.
            while let name = next[0], let value = next[1] {
                list.append((XMLName(expanded: String(cString: name)), String(cString: value)))
                next += 2
            }
            try handler.start(XMLName(expanded: String(cString: name)), list)
        }
    }

    private func end() {
        attempt { () throws(UnusableBody) in
            depth -= 1
            try handler.end()
        }
    }

    private func text(_ text: UnsafePointer<XML_Char>?, _ length: Int32) {
        guard fault == nil else { return }
        handler.text(UnsafeRawBufferPointer(start: text, count: Int(length)))
    }

    private func entity(_ name: UnsafePointer<XML_Char>?) {
        attempt { () throws(UnusableBody) in
            let name = UpstreamError.cut(name.map { String(cString: $0) } ?? "", to: 40)
            throw .fault("answered with XML that declares an entity (\(name)) in line \(line), which norrisd refuses")
        }
    }

    private func skippedEntity(_ name: UnsafePointer<XML_Char>?) {
        guard fault == nil, let name else { return }
        let reference = Array("&\(String(cString: name));".utf8)
        if let (text, length) = htmlEntity(reference[...]), length == reference.count {
            handler.text(text.utf8)
        } else {
            handler.text(reference)
        }
    }

    /// Does it unless there is a fault already, for some callbacks still come behind one; the first ends the parse.
    private func attempt(_ body: () throws(UnusableBody) -> Void) {
        guard fault == nil else { return }
        do throws(UnusableBody) {
            try body()
        } catch {
            fault = error
            XML_StopParser(parser, 0)
        }
    }
}
