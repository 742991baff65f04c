import NorrisProtocol

extension Post.Image {
    /// The pictures that stand in a piece of HTML, without those that only count readers or are letters of a kind.
    static func images(inHTML html: String, at base: HTTPURL, _ budget: DecodingBudget) -> [Post.Image] {
        htmlTags("img", in: Array(html.utf8), budget).compactMap { attributes in
            guard budget.isLeft, let url = attributes["src"].flatMap({ resolved($0, at: base) }) else { return nil }
            budget.spend(bytes: url.utf8.count)
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
