package import NorrisProtocol
import NorrisText

extension Screen {
    /// GIFs with an empty line between them, and who powers them; to a pipe one a line, which says so in each.
    ///
    /// - Parameter rendition: whose address is shown; the best that each has if nil.
    package mutating func gifs(_ gifs: [Gif], rendition: String? = nil) {
        for (index, gif) in gifs.enumerated() {
            let picture = gif.picture(rendition)
            guard let width = layout.width else {
                fields([Span(gif.id), Span(gif.headline), Span(picture?.address ?? "-"), Span(Gif.attribution, .dim)])
                continue
            }
            if index > 0 { line() }
            self.gif(gif, picture, width: width)
        }
        if layout.width != nil, !gifs.isEmpty {
            line()
            line(Gif.attribution, .dim)
        }
    }

    private mutating func gif(_ gif: Gif, _ picture: Gif.Picture?, width: Int) {
        wrapped(gif.headline, width: width).forEach { line([Span($0, .bold, link: picture?.address)]) }
        flow(gif.details(of: picture).map { Span($0, .dim) }, separator: .dot, width: width)
        if let caption = gif.caption { paragraph(caption) }
        // Not wrapped: it is to be copied as one word.
        if let picture { line(picture.address) }
        line([Span(gif.id, .dim, link: gif.pageURL)])
    }

    /// The addresses of those that have one, one a line and nothing else.
    package mutating func addresses(of gifs: [Gif], rendition: String? = nil) {
        gifs.compactMap { $0.picture(rendition) }.forEach { line($0.address) }
    }

    /// Those that have an address as pictures in Markdown, one a line.
    package mutating func markdown(of gifs: [Gif], rendition: String? = nil) {
        for gif in gifs {
            guard let picture = gif.picture(rendition) else { continue }
            line(markdownImage(gif.headline, picture.address))
        }
    }
}

extension Gif {
    /// One address of a GIF, and the rendition it belongs to.
    package struct Picture: Equatable, Sendable {
        /// Byte for byte as Giphy gave it: http or https, visible ASCII.
        package let address: String
        package let rendition: Rendition
        /// Whether the rendition's size in bytes is that of what the address leads to.
        package let hasKnownSize: Bool
    }

    /// What is looked for first where no rendition is named, best first.
    package static let preferredRenditions = [
        "original", "fixed_height", "fixed_width", "downsized", "downsized_medium", "downsized_large",
        "fixed_height_small", "fixed_width_small",
    ]

    /// The picture of a rendition; of the best that there is if none is named, pictures before films.
    ///
    /// An address that cannot be printed as it is counts as none.
    package func picture(_ rendition: String? = nil) -> Picture? {
        let names = rendition.map { [$0] } ?? namesByPreference
        let forms: [KeyPath<Rendition, String?>] = [\.url, \.mp4, \.webp]
        for form in forms {
            for name in names {
                guard let rendition = renditions[name], let address = rendition[keyPath: form], isWebAddress(address)
                else { continue }
                return Picture(address: address, rendition: rendition, hasKnownSize: form == \.url)
            }
        }
        return nil
    }

    private var namesByPreference: [String] {
        let others = renditions.keys.filter { !Self.preferredRenditions.contains($0) }.sorted()
        let stills = others.filter { $0.hasSuffix("_still") }
        return Self.preferredRenditions + others.filter { !$0.hasSuffix("_still") } + stills
    }

    /// What to call it, in one line that is never empty.
    fileprivate var headline: String {
        let title = sanitizedLine(title)
        return title.isEmpty ? author.map { "GIF by \($0)" } ?? "untitled" : title
    }

    /// What is known of it and of the picture that is shown: `480×229`, `20 frames`, `932 KiB`, `g`, `by NAME`.
    fileprivate func details(of picture: Picture?) -> [String] {
        var details: [String] = []
        if let picture {
            let rendition = picture.rendition
            details.append(pixelsText(rendition.width, rendition.height))
            if let frames = rendition.frames, frames > 0 { details.append(countText(frames, "frame")) }
            if picture.hasKnownSize, let bytes = rendition.bytes, bytes > 0 { details.append(byteSizeText(bytes)) }
        }
        details += [rating, isSticker ? "sticker" : ""]
        // Without a title the headline has the name already.
        if let author, !sanitizedLine(title).isEmpty { details.append("by \(author)") }
        return details.filter { !sanitizedLine($0).isEmpty }
    }

    /// What it shows, in words, unless the title says just that; one line.
    fileprivate var caption: String? {
        guard let text = altText.map(sanitizedLine), !text.isEmpty, !text.hasSameBytes(as: headline) else { return nil }
        return text
    }

    private var author: String? { username.map(sanitizedLine).flatMap { $0.isEmpty ? nil : $0 } }
}

/// A picture in Markdown (CommonMark 0.31.2, 6.4): `![title](address)`.
///
/// - Parameters:
///   - title: one line; what means something inside a line is escaped, the `$` and `~` and `|` of GitHub included.
///   - address: of visible ASCII; what could end it early, or be read as something else, is percent-encoded.
private func markdownImage(_ title: String, _ address: String) -> String {
    var text = "!["
    for scalar in title.unicodeScalars {
        if "\\`*_[]<>&~|$".unicodeScalars.contains(scalar) { text += "\\" }
        text.unicodeScalars.append(scalar)
    }
    text += "]("
    for scalar in address.unicodeScalars {
        // A semicolon would end what looks like an entity: `&copy;`.
        if "()<>\\`|;".unicodeScalars.contains(scalar) {
            text += "%" + String(scalar.value, radix: 16, uppercase: true)
        } else {
            text.unicodeScalars.append(scalar)
        }
    }
    return text + ")"
}
