import NorrisProtocol
import NorrisText

/// The pictures and other files of an item: enclosures, Media RSS (https://www.rssboard.org/media-rss) and iTunes.
struct FeedMedia {
    var images: [Post.Image] = []
    var attachments: [Post.Attachment] = []
}

extension MarkupElement {
    func media(at base: HTTPURL) -> FeedMedia {
        var media = FeedMedia()
        for file in children("enclosure", "link", "atom:link") {
            guard file.name == "enclosure" || file["rel"]?.lowercased() == "enclosure",
                let url = (file["url"] ?? file["href"]).flatMap({ address($0, at: base) })
            else { continue }
            media.add(url, type: file["type"], bytes: file.number("length"), alt: file["title"])
        }
        for picture in children("image") {
            let named = (picture.text(of: "url") ?? picture["url"] ?? picture["href"]).flatMap { address($0, at: base) }
            let written = picture.hasElements ? nil : address(picture.text)
            media.images += (named ?? written).map { [Post.Image(url: $0)] } ?? []
        }
        media.images += mediaPictures(at: base)
        media.attachments += mediaFiles(at: base)
        if media.images.isEmpty, let picture = children("itunes:image").first {
            media.images +=
                (picture["href"] ?? picture.text(of: "url")).flatMap { address($0, at: base) }
                .map { [Post.Image(url: $0)] } ?? []
        }
        if let seconds = text(of: "itunes:duration").flatMap(duration), !media.attachments.isEmpty {
            media.attachments[0].seconds = media.attachments[0].seconds ?? seconds
        }
        return media
    }

    private func number(_ attribute: String) -> Int? { self[attribute].flatMap { Int(trimmed($0)) } }

    // MARK: Media RSS

    /// The groups and media of an item, which may have other titles and descriptions than the item.
    var mediaElements: [MarkupElement] {
        children("media:group", "media:content").flatMap { [$0] + $0.mediaElements }
    }

    /// The media that are no pictures.
    private func mediaFiles(at base: HTTPURL) -> [Post.Attachment] {
        children("media:content", "media:group").flatMap { element -> [Post.Attachment] in
            let inner = element.mediaFiles(at: base)
            // No program plays Flash any more.
            guard element.name == "media:content", element["type"]?.lowercased() != "application/x-shockwave-flash",
                let url = element["url"].flatMap({ address($0, at: base) }), !element.isPicture(url)
            else { return inner }
            let file = Post.Attachment(
                url: url, type: element["type"], bytes: element.number("filesize"),
                seconds: element["duration"].flatMap(duration))
            return [file] + inner
        }
    }

    /// The pictures among the media, or without any the thumbnail of a video.
    private func mediaPictures(at base: HTTPURL) -> [Post.Image] {
        let images = children("media:content", "media:group").flatMap { element -> [Post.Image] in
            if element.name == "media:group" { return element.groupPictures(at: base) }
            guard let image = element.image(at: base), element.isPicture(image.url) else {
                return element.mediaPictures(at: base)
            }
            return [image]
        }
        return images.isEmpty ? thumbnail(at: base) : images
    }

    /// The largest picture of a group, which contains the same picture in several forms.
    private func groupPictures(at base: HTTPURL) -> [Post.Image] {
        let pictures = children("media:content").compactMap { element in
            element.image(at: base).flatMap { element.isPicture($0.url) ? $0 : nil }
        }
        guard var image = largest(pictures) else { return thumbnail(at: base) }
        image.alt = image.alt ?? text(of: "media:description")
        return [image]
    }

    /// The largest thumbnail, unless it is only a sign of the author.
    private func thumbnail(at base: HTTPURL) -> [Post.Image] {
        let images = children("media:thumbnail").compactMap { $0.image(at: base) }
        return largest(images.filter { $0.width ?? .max > 32 || $0.height ?? .max > 32 }).map { [$0] } ?? []
    }

    private func image(at base: HTTPURL) -> Post.Image? {
        guard let url = self["url"].flatMap({ address($0, at: base) }) else { return nil }
        return Post.Image(
            url: url, width: number("width"), height: number("height"),
            alt: self["alt"] ?? text(of: "media:description"))
    }

    private func isPicture(_ url: String) -> Bool {
        self["medium"].map { $0.lowercased() == "image" } ?? isImage(type: self["type"], url: url)
    }
}

extension FeedMedia {
    /// Adds a file as a picture or as an attachment.
    mutating func add(_ url: String, type: String?, bytes: Int? = nil, seconds: Int? = nil, alt: String? = nil) {
        if isImage(type: type, url: url) { return images.append(Post.Image(url: url, alt: alt)) }
        attachments.append(Post.Attachment(url: url, type: type, bytes: bytes, seconds: seconds))
    }
}

/// The first of the pictures with the most pixels.
private func largest(_ images: [Post.Image]) -> Post.Image? {
    let size = { (image: Post.Image) in Double(image.width ?? 0) * Double(image.height ?? image.width ?? 0) }
    return images.reduce(nil as Post.Image?) { best, image in
        guard let best, size(best) >= size(image) else { return image }
        return best
    }
}

/// Seconds, written as `3723`, `62:03` or `01:02:03`; nil for other texts.
private func duration(_ text: String) -> Int? {
    let parts = trimmed(text).prefix { $0 != "." }.split(separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count), parts.allSatisfy({ isNumber($0) && $0.utf8.count <= 6 }) else { return nil }
    return parts.reduce(0) { $0 * 60 + (Int($1) ?? 0) }
}
