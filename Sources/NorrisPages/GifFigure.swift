import NorrisProtocol
import NorrisText

/// A GIF as a link to its page, with title and author. For users who asked their system for less motion, the still form
/// is loaded, or nothing if there is none, because browsers do not load a lazy image that has no box.
struct GifFigure {
    let gif: Gif
    /// The name of the rendition to show if the GIF has it.
    var rendition: String?
    /// The last part of the caption of a favorite.
    var note = ""

    /// The renditions in order of preference: 200 pixels are enough for a row, and the original can have 10 MB.
    private static let preferred = ["fixed_height", "fixed_width", "downsized", "downsized_medium", "original"]

    /// The first rendition that a browser can show.
    private func picture(_ names: [String]) -> (address: PageAddress, rendition: Gif.Rendition, name: String)? {
        for name in names {
            guard let rendition = gif.renditions[name] else { continue }
            if let address = PageAddress(rendition.url ?? rendition.webp) { return (address, rendition, name) }
        }
        return nil
    }

    func write(_ html: inout HTMLWriter) {
        let names = gif.renditions.keys.sorted()
        let moving = picture([rendition ?? ""] + Self.preferred + names.filter { !$0.hasSuffix("_still") })
        let still = picture([(moving?.name ?? "") + "_still"] + names.filter { $0.hasSuffix("_still") })
        let title = sanitizedLine(gif.title)
        let label = [sanitizedLine(gif.altText ?? ""), title].first { !$0.isEmpty } ?? "Untitled GIF"
        html.element("figure", [.number("class", "gif r", Self.shape((moving ?? still)?.rendition))]) { html in
            html.link(gif.pageURL) { html in
                guard let (address, rendition, _) = moving ?? still else { return html.text(label) }
                html.element("picture") { html in
                    let media = Attribute.fixed("media", "(prefers-reduced-motion: reduce)")
                    if let still { html.void("source", [media, .address(.srcset, still.address)]) }
                    if let webp = PageAddress(rendition.webp) {
                        html.void("source", [.fixed("type", "image/webp"), .address(.srcset, webp)])
                    }
                    let size = (rendition.width, rendition.height)
                    html.image(address.text, alt: label, size: size, still == nil ? .class("moves") : nil)
                }
                if still == nil { html.element("span", [.class("held")], text: "Play at giphy.com") }
            }
            html.element("figcaption") { html in
                let name = title.isEmpty ? "Untitled" : title
                html.element("bdi", [.class("name"), .text(.title, name)], text: name)
                let author = gif.username.map { $0.isEmpty ? "" : "by \($0)" } ?? ""
                // Most GIFs are for everyone.
                let rating = ["", "g"].contains(gif.rating) ? "" : "rated \(gif.rating)"
                html.spans([author, rating, gif.isSticker ? "sticker" : "", note], isStart: false)
            }
        }
    }

    /// The width in fifths of the height, as the style has them, so that little of the picture is cut off; 4 for a
    /// higher picture, which is shown whole in a square, and 5 if the size is unknown.
    private static func shape(_ rendition: Gif.Rendition?) -> Int {
        guard let width = rendition?.width, let height = rendition?.height, width > 0, height > 0 else { return 5 }
        return Int(min(max(5 * Double(width) / Double(height), 4), 12).rounded())
    }
}
