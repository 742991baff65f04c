import CExpat
import Glibc
import NorrisText

/// The feeds of an OPML document (OPML 2.0, <http://opml.org/spec2.opml>), read with Expat (expat.h).
///
/// The outlines may be nested in any way. Document types are refused, so a document defines no entities.
struct OPML {
    /// An outline with the address of a feed.
    struct Feed: Equatable {
        /// The attribute `title` or `text`, at most ``OPML/longestText`` bytes; nil without either.
        var title: String?
        var url: String
    }

    /// A document that is not usable, as the end of a sentence that begins with its name.
    struct Fault: Error, Equatable { let reason: String }

    static let maximumFeeds = 1000
    /// In bytes. A longer address is not valid, and a longer title is cut.
    private static let longestText = 4096

    let feeds: [Feed]

    init(_ bytes: [UInt8]) throws(Fault) {
        guard let parser = XML_ParserCreate(nil) else { throw Fault(reason: "cannot be read: out of memory") }
        defer { XML_ParserFree(parser) }
        var state = ReadingState(parser: parser)
        // The pointer is valid in the closure, in which the parser calls all handlers.
        withUnsafeMutablePointer(to: &state) { state in
            XML_SetUserData(parser, state)
            XML_SetStartElementHandler(parser) { state, name, attributes in
                ReadingState.with(state) { $0.start(name, attributes) }
            }
            XML_SetStartDoctypeDeclHandler(parser) { state, _, _, _, _ in
                ReadingState.with(state) {
                    $0.stop("has a document type, which could define entities; remove that line")
                }
            }
            bytes.withUnsafeBytes { bytes in
                // The caller limits the size to less than Int32.max bytes.
                let text = bytes.bindMemory(to: CChar.self)
                state.pointee.isComplete =
                    XML_Parse(parser, text.baseAddress, Int32(clamping: text.count), 1) == XML_STATUS_OK
            }
        }
        if let fault = state.fault { throw fault }
        guard state.isComplete else {
            let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "not well-formed"
            throw Fault(reason: "is not XML in line \(XML_GetCurrentLineNumber(parser)): \(reason)")
        }
        feeds = state.feeds
    }

    private struct ReadingState {
        let parser: XML_Parser
        var feeds: [Feed] = []
        var hasRoot = false
        var isComplete = false
        var fault: Fault?

        static func with(_ pointer: UnsafeMutableRawPointer?, _ body: (inout ReadingState) -> Void) {
            guard let pointer else { return }
            body(&pointer.assumingMemoryBound(to: ReadingState.self).pointee)
        }

        mutating func stop(_ reason: String) {
            // Some handlers may still be called after the parser was stopped.
            if fault == nil { fault = Fault(reason: reason) }
            XML_StopParser(parser, 0)
        }

        mutating func start(
            _ name: UnsafePointer<XML_Char>?, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
        ) {
            guard fault == nil, let name, var next = attributes else { return }
            let element = String(cString: name).lowercased()
            if !hasRoot, element != "opml" { return stop("is not OPML: its root is not <opml>") }
            hasRoot = true
            guard element == "outline" else { return }
            var url: String?
            var title: String?
            var text: String?
            // Names and values alternate; nil ends the list.
            while let name = next[0], let value = next[1] {
                switch String(cString: name).lowercased() {
                case "xmlurl": url = OPML.cut(value)
                case "title": title = OPML.cut(value)
                case "text": text = OPML.cut(value)
                default: break
                }
                next += 2
            }
            guard let url, !url.isEmpty else { return }
            guard feeds.count < OPML.maximumFeeds else {
                return stop("has more than 1,000 feeds; divide it into several files")
            }
            feeds.append(Feed(title: [title, text].compactMap(\.self).first { !$0.isEmpty }, url: url))
        }
    }

    private static func cut(_ text: UnsafePointer<XML_Char>) -> String {
        let bytes = UnsafeRawBufferPointer(start: text, count: strnlen(text, longestText))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// An OPML document with feeds, in UTF-8.
    static func document(_ feeds: [Feed]) -> String {
        func escaped(_ text: String) -> String {
            var result = ""
            for scalar in sanitizedLine(text).unicodeScalars {
                switch scalar {
                case "&": result += "&amp;"
                case "<": result += "&lt;"
                case ">": result += "&gt;"
                case "\"": result += "&quot;"
                default: result.unicodeScalars.append(scalar)
                }
            }
            return result
        }
        let lines = feeds.map { feed in
            let title = escaped(feed.title ?? feed.url)
            return "    <outline type=\"rss\" text=\"\(title)\" title=\"\(title)\" xmlUrl=\"\(escaped(feed.url))\"/>\n"
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <opml version="2.0">
              <head>
                <title>Feeds of norrisd</title>
              </head>
              <body>
            \(lines.joined())  </body>
            </opml>

            """
    }
}
