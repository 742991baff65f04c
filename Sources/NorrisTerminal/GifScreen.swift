package import NorrisProtocol
import NorrisText

extension Screen {
    /// GIFs separated by empty lines, with Giphy's attribution. In a pipe one a line, each with the attribution.
    ///
    /// - Parameters:
    ///   - rendition: the rendition to which the title leads; nil for the best of each GIF.
    ///   - first: the number of the first GIF; nil for no numbers.
    package mutating func gifs(_ gifs: [Gif], rendition: String? = nil, numberedFrom first: Int? = nil) {
        items(gifs, numberedFrom: first) { screen, gif, number in
            let picture = gif.picture(rendition)
            guard let width = screen.layout.width else {
                let fields = [Span(gif.id), Span(gif.headline), Span(picture?.address ?? "-")]
                return screen.fields(fields + [Span(Gif.attribution, .dim)])
            }
            screen.gif(gif, picture, number, width: width)
        }
        if layout.width != nil, !gifs.isEmpty {
            line()
            line(Gif.attribution, .dim)
        }
    }

    private mutating func gif(_ gif: Gif, _ picture: Gif.Picture?, _ number: Int?, width: Int) {
        wrapped(gif.headline, width: width).forEach { line([Span($0, .bold, link: picture?.address)]) }
        flow(gif.details(of: picture).map { Span($0, .dim) }, separator: .dot, width: width)
        if let caption = gif.caption { paragraph(caption) }
        if number == nil { line([Span(gif.id, .dim, link: gif.pageURL)]) }
    }

    /// The addresses of the GIFs, one a line.
    package mutating func addresses(of gifs: [Gif], rendition: String? = nil) {
        gifs.compactMap { $0.picture(rendition) }.forEach { line($0.address) }
    }

    /// The GIFs with an address as pictures in Markdown, one a line.
    package mutating func markdown(of gifs: [Gif], rendition: String? = nil) {
        for gif in gifs {
            guard let picture = gif.picture(rendition) else { continue }
            line(markdownImage(gif.headline, picture.address))
        }
    }
}

extension Gif {
    /// The address of a rendition of a GIF.
    package struct Picture: Equatable, Sendable {
        /// The address from Giphy, byte for byte: http or https, visible ASCII.
        package let address: String
        package let rendition: Rendition
        /// Whether the rendition's size in bytes is the size of the file at the address.
        package let hasKnownSize: Bool
    }

    /// The renditions in order of preference, best first.
    package static let preferredRenditions = [
        "original", "fixed_height", "fixed_width", "downsized", "downsized_medium", "downsized_large",
        "fixed_height_small", "fixed_width_small",
    ]

    /// The picture of a rendition, or of the best rendition if none is named; pictures have precedence over films.
    ///
    /// A rendition whose address cannot be printed unchanged is skipped.
    package func picture(_ rendition: String? = nil) -> Picture? {
        func first(of names: [String], isKnown: Bool = false, _ form: (Rendition) -> String?) -> Picture? {
            for name in names {
                guard let rendition = renditions[name], let address = form(rendition), isWebAddress(address) else {
                    continue
                }
                return Picture(address: address, rendition: rendition, hasKnownSize: isKnown)
            }
            return nil
        }
        let preferred = rendition.map { [$0] } ?? Self.preferredRenditions
        // Nearly every GIF has one of these.
        if let picture = first(of: preferred, isKnown: true, { $0.url }) { return picture }
        let others = rendition == nil ? renditions.keys.filter { !preferred.contains($0) }.sorted() : []
        let stills = others.filter { $0.hasSuffix("_still") }
        let names = preferred + others.filter { !$0.hasSuffix("_still") } + stills
        return first(of: names, isKnown: true) { $0.url } ?? first(of: names) { $0.mp4 }
            ?? first(of: names) { $0.webp }
    }

    /// The title in one line, never empty.
    fileprivate var headline: String {
        let title = sanitizedLine(title)
        return title.isEmpty ? author.map { "GIF by \($0)" } ?? "untitled" : title
    }

    /// The known properties of the GIF and of the shown picture: `480×229`, `932 KiB`, `pg-13`, `by NAME`.
    fileprivate func details(of picture: Picture?) -> [String] {
        var details: [String] = []
        if let picture {
            let rendition = picture.rendition
            details.append(pixelsText(rendition.width, rendition.height))
            if picture.hasKnownSize, let bytes = rendition.bytes, bytes > 0 { details.append(byteSizeText(bytes)) }
        }
        details += [rating == "g" ? "" : rating, isSticker ? "sticker" : ""]
        // Without a title the headline contains the name.
        if let author, !sanitizedLine(title).isEmpty { details.append("by \(author)") }
        return details.filter { !sanitizedLine($0).isEmpty }
    }

    /// A description in one line, unless the title has the same words.
    fileprivate var caption: String? {
        guard let text = altText.map(sanitizedLine), !text.isEmpty, !text.hasSameBytes(as: headline) else { return nil }
        return text
    }

    private var author: String? { username.map(sanitizedLine).flatMap { $0.isEmpty ? nil : $0 } }
}

/// A picture in Markdown (CommonMark 0.31.2, 6.4): `![title](address)`.
///
/// - Parameters:
///   - title: one line. Characters with a meaning are escaped, including GitHub's `$`, `~` and `|`.
///   - address: visible ASCII. Characters that could end the address or have another meaning are percent-encoded.
private func markdownImage(_ title: String, _ address: String) -> String {
    var text = "!["
    for scalar in title.unicodeScalars {
        if "\\`*_[]<>&~|$".unicodeScalars.contains(scalar) { text += "\\" }
        text.unicodeScalars.append(scalar)
    }
    text += "]("
    for scalar in address.unicodeScalars {
        // A semicolon would end a text like an entity: `&copy;`.
        if "()<>\\`|;".unicodeScalars.contains(scalar) {
            text += "%" + String(scalar.value, radix: 16, uppercase: true)
        } else {
            text.unicodeScalars.append(scalar)
        }
    }
    return text + ")"
}

/// `640×480`, in pixels; empty if one of them is unknown.
func pixelsText(_ width: Int?, _ height: Int?) -> String {
    guard let width, let height, width > 0, height > 0 else { return "" }
    return "\(width)×\(height)"
}
