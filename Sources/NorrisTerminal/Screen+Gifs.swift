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
                fields([
                    Span(gif.id), Span(gif.headline), Span(picture?.address ?? "-"), Span(Gif.attribution, .dim),
                ])
                continue
            }
            if index > 0 {
                line()
            }
            self.gif(gif, picture, width: width)
        }
        if layout.width != nil, !gifs.isEmpty {
            line()
            line(Gif.attribution, .dim)
        }
    }

    private mutating func gif(_ gif: Gif, _ picture: Gif.Picture?, width: Int) {
        for text in wrapped(gif.headline, width: width) {
            line([Span(text, .bold, link: picture?.address)])
        }
        let details = gif.details(of: picture)
        if !details.isEmpty {
            flow(details.map { Span($0, .dim) }, separator: Span(" · ", .dim), width: width)
        }
        if let caption = gif.caption {
            paragraph(caption)
        }
        if let picture {
            // Not wrapped: it is to be copied as one word.
            line(picture.address)
        }
        line([Span(gif.id, .dim, link: gif.pageURL)])
    }

    /// The addresses of those that have one, one a line and nothing else.
    package mutating func addresses(of gifs: [Gif], rendition: String? = nil) {
        for gif in gifs {
            if let picture = gif.picture(rendition) {
                line(picture.address)
            }
        }
    }

    /// Those that have an address as pictures in Markdown, one a line.
    package mutating func markdown(of gifs: [Gif], rendition: String? = nil) {
        for gif in gifs {
            if let picture = gif.picture(rendition) {
                line(markdownImage(gif.headline, picture.address))
            }
        }
    }
}
