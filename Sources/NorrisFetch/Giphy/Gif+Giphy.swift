import NorrisProtocol
import NorrisText

extension Gif {
    /// Decodes an item of Giphy. Returns nil without a usable id. Unknown members and unusable values are ignored.
    init?(giphy object: JSONItem) {
        guard let id = object.id("id"), Gif.isPossibleID(id) else { return nil }
        var renditions: [String: Rendition] = [:]
        // Giphy sends about 25 renditions.
        for (name, object) in object.object("images")?.objects(upTo: 64) ?? [] where Self.isName(name, upTo: 40) {
            renditions[name] = Rendition(giphy: object)
        }
        self.init(
            id: id, title: Self.line(object.text("title"), upTo: 300) ?? "",
            rating: object.text("rating").flatMap { Self.isRating($0) ? $0 : nil } ?? "",
            pageURL: object.url("url") ?? "https://giphy.com/gifs/\(id)",
            username: Self.line(object.text("username"), upTo: 100),
            altText: Self.line(object.text("alt_text"), upTo: 1000),
            isSticker: object.truth("is_sticker") ?? (object.text("type") == "sticker"), renditions: renditions,
            importedAt: object.date("import_datetime"), trendingAt: object.date("trending_datetime"))
    }

    fileprivate static func isName(_ text: String, upTo length: Int) -> Bool {
        (1...length).contains(text.utf8.count) && text.utf8.allSatisfy { isLetterOrDigit($0) || $0 == "-" || $0 == "_" }
    }

    private static func isRating(_ text: String) -> Bool {
        isName(text, upTo: 10) && !text.contains("_") && text == text.lowercased()
    }

    /// One sanitized line; nil if empty.
    private static func line(_ raw: String?, upTo length: Int) -> String? {
        guard let raw else { return nil }
        let line = trimmed(prefix(of: sanitizedLine(plainText(guessing: raw)), codePoints: length))
        return line.isEmpty ? nil : line
    }
}

extension Gif.Rendition {
    /// Returns nil without any URL. A number of 0 means unknown, and pixels and frames are limited to a million.
    fileprivate init?(giphy object: JSONItem) {
        func number(_ key: String, upTo maximum: Int = .max) -> Int? {
            object.number(key).flatMap { $0 > 0 && $0 <= maximum ? $0 : nil }
        }
        let (url, mp4, webp) = (object.url("url"), object.url("mp4"), object.url("webp"))
        if url == nil, mp4 == nil, webp == nil { return nil }
        self.init(
            url: url, mp4: mp4, webp: webp, width: number("width", upTo: 1_000_000),
            height: number("height", upTo: 1_000_000), bytes: number("size"), frames: number("frames", upTo: 1_000_000))
    }
}
