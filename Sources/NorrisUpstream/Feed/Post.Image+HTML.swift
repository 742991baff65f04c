import NorrisProtocol

extension Post.Image {
    /// The pictures that stand in a piece of HTML, without those that only count readers or are letters of a kind.
    static func images(inHTML html: String, at base: HTTPURL) -> [Post.Image] {
        htmlTags("img", in: Array(html.utf8)).compactMap { attributes in
            guard let url = attributes["src"].flatMap({ resolved($0, at: base) }) else { return nil }
            let image = Post.Image(
                url: url,
                width: attributes["width"].flatMap { Int($0) },
                height: attributes["height"].flatMap { Int($0) },
                alt: attributes["alt"]
            )
            if let width = image.width, width <= 1 { return nil }
            if let height = image.height, height <= 1 { return nil }
            let kinds = attributes["class"] ?? ""
            return kinds.contains("emoji") || kinds.contains("smiley") ? nil : image
        }
    }
}
