import NorrisProtocol
import NorrisText

extension Post.Image {
    /// The largest number of `img` tags read from one text; a post has fewer pictures.
    private static let maximumInHTML = 200

    /// The pictures in HTML, without tracking pixels and emoji.
    static func images(inHTML html: String, at base: HTTPURL) -> [Post.Image] {
        htmlTags("img", in: Array(html.utf8), upTo: maximumInHTML).compactMap { attributes in
            guard let url = attributes["src"].flatMap({ resolved($0, at: base) }) else { return nil }
            let size = { (name: String) in attributes[name].flatMap { Int($0) } }
            let image = Post.Image(url: url, width: size("width"), height: size("height"), alt: attributes["alt"])
            let kinds = attributes["class"] ?? ""
            let isSmall = image.width ?? .max <= 1 || image.height ?? .max <= 1
            return isSmall || kinds.contains("emoji") || kinds.contains("smiley") ? nil : image
        }
    }

    // Media RSS (https://www.rssboard.org/media-rss), which RSS and Atom use.

    /// The pictures among the media of an item, or without any the thumbnail of a video.
    static func images(inMediaOf element: XMLElement) -> [Post.Image] {
        var images: [Post.Image] = []
        for child in element.elements where child.name.namespace == .media && images.count < maximumInHTML {
            switch child.name.local {
            case "content": images += picture(child).map { [$0] } ?? Self.images(inMediaOf: child)
            case "group": images += group(child)
            default: break
            }
        }
        return images.isEmpty ? thumbnail(element) : images
    }

    /// The largest picture of a group, which contains the same picture in several forms.
    private static func group(_ element: XMLElement) -> [Post.Image] {
        guard var image = largest(element.children("content", in: .media).compactMap(picture)) else {
            return thumbnail(element)
        }
        image.alt = image.alt ?? element.text(of: "description", in: .media, .line)
        return [image]
    }

    private static func thumbnail(_ element: XMLElement) -> [Post.Image] {
        largest(element.children("thumbnail", in: .media).compactMap(image)).map { [$0] } ?? []
    }

    /// The first of the pictures with the most pixels.
    private static func largest(_ images: [Post.Image]) -> Post.Image? {
        let size = { (image: Post.Image) in Double(image.width ?? 0) * Double(image.height ?? image.width ?? 0) }
        return images.reduce(nil as Post.Image?) { best, image in
            guard let best, size(best) >= size(image) else { return image }
            return best
        }
    }

    /// The picture of a media element; nil for video, sound and other types.
    private static func picture(_ element: XMLElement) -> Post.Image? {
        guard let image = image(element) else { return nil }
        let isPicture =
            element["medium", .word].map { $0 == "image" } ?? isImage(type: element["type", .word], url: image.url)
        return isPicture ? image : nil
    }

    private static func image(_ element: XMLElement) -> Post.Image? {
        guard let url = element.url("url") else { return nil }
        return Post.Image(
            url: url, width: element["width", .word].flatMap { Int($0) },
            height: element["height", .word].flatMap { Int($0) },
            alt: element["alt", .line] ?? element.text(of: "description", in: .media, .line))
    }
}
