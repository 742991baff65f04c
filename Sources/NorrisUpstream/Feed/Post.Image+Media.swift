import NorrisProtocol

// Media RSS (https://www.rssboard.org/media-rss) stands in RSS and in Atom alike.

extension Post.Image {
    /// The pictures among the media of an item; the small one that stands for a film, if there is no other.
    static func images(inMediaOf element: XMLElement) -> [Post.Image] {
        var images: [Post.Image] = []
        for child in element.elements where child.name.namespace == .media {
            switch child.name.local {
            case "content": images += content(child).map { [$0] } ?? Self.images(inMediaOf: child)
            case "group": images += group(child)
            default: break
            }
        }
        if images.isEmpty, let thumbnail = largest(element.children("thumbnail", in: .media).compactMap(image)) {
            images = [thumbnail]
        }
        return images
    }

    /// One of the forms in which a group has the same picture.
    private static func group(_ element: XMLElement) -> [Post.Image] {
        let contents = element.children("content", in: .media).compactMap(content)
        guard var image = largest(contents) else {
            return largest(element.children("thumbnail", in: .media).compactMap(image)).map { [$0] } ?? []
        }
        image.alt = image.alt ?? element.text(of: "description", in: .media)
        return [image]
    }

    /// The first of those with the most pixels.
    private static func largest(_ images: [Post.Image]) -> Post.Image? {
        let size = { (image: Post.Image) in Double(image.width ?? 0) * Double(image.height ?? image.width ?? 0) }
        return images.reduce(nil as Post.Image?) { best, image in
            guard let best, size(best) >= size(image) else { return image }
            return best
        }
    }

    /// Nil for a film, a sound, and whatever else is no picture.
    private static func content(_ element: XMLElement) -> Post.Image? {
        guard let image = image(element) else { return nil }
        let medium = element["medium"]
        let isPicture = medium.map { $0 == "image" } ?? isImage(type: element["type"], url: image.url)
        return isPicture ? image : nil
    }

    private static func image(_ element: XMLElement) -> Post.Image? {
        guard let url = element["url"].flatMap({ resolved($0, at: element.base) }) else { return nil }
        return Post.Image(
            url: url, width: element["width"].flatMap { Int($0) }, height: element["height"].flatMap { Int($0) },
            alt: element["alt"] ?? element.text(of: "description", in: .media)
        )
    }
}
