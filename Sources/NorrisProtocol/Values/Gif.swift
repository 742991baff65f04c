/// A GIF of Giphy as it goes over the wire: what is known of it, and where its pictures are.
package struct Gif: Equatable, Sendable {
    package var id: String
    /// One line of plain text; may be empty.
    package var title: String
    /// Giphy's word: `g`, `pg`, `pg-13`, `r`, and in old data others.
    package var rating: String
    /// Where Giphy shows it.
    package var pageURL: String
    package var username: String?
    package var altText: String?
    package var isSticker: Bool
    /// By Giphy's names, such as `original` and `fixed_width`; any may be missing.
    package var renditions: [String: Rendition]
    package var importedAt: Timestamp?
    package var trendingAt: Timestamp?

    /// What Giphy asks everybody to show who uses its API.
    package static let attribution = "Powered by GIPHY"

    package init(
        id: String,
        title: String,
        rating: String,
        pageURL: String,
        username: String? = nil,
        altText: String? = nil,
        isSticker: Bool = false,
        renditions: [String: Rendition] = [:],
        importedAt: Timestamp? = nil,
        trendingAt: Timestamp? = nil
    ) {
        self.id = id
        self.title = title
        self.rating = rating
        self.pageURL = pageURL
        self.username = username
        self.altText = altText
        self.isSticker = isSticker
        self.renditions = renditions
        self.importedAt = importedAt
        self.trendingAt = trendingAt
    }

    /// One size and form of the picture. Addresses stand here byte for byte as Giphy gave them.
    package struct Rendition: Equatable, Sendable {
        /// Of the moving or still picture itself.
        package var url: String?
        package var mp4: String?
        package var webp: String?
        /// In pixels.
        package var width: Int?
        package var height: Int?
        /// Of what ``url`` leads to.
        package var bytes: Int?
        package var frames: Int?

        package init(
            url: String? = nil,
            mp4: String? = nil,
            webp: String? = nil,
            width: Int? = nil,
            height: Int? = nil,
            bytes: Int? = nil,
            frames: Int? = nil
        ) {
            self.url = url
            self.mp4 = mp4
            self.webp = webp
            self.width = width
            self.height = height
            self.bytes = bytes
            self.frames = frames
        }
    }
}

extension Gif: JSONEncodable, JSONDecodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("id", id)
        json.member("title", title)
        json.member("rating", rating)
        json.member("page_url", pageURL)
        json.member("username", username)
        json.member("alt_text", altText)
        json.member("sticker", isSticker)
        json.member("renditions", renditions)
        json.member("imported_at", importedAt)
        json.member("trending_at", trendingAt)
        json.member("attribution", Gif.attribution)
        json.endObject()
    }

    package init(json: JSON) throws(JSONDecodingError) {
        let object = try json.objectValue()
        id = try object.required("id")
        title = try object.required("title")
        rating = try object.required("rating")
        pageURL = try object.required("page_url")
        username = try object.optional("username")
        altText = try object.optional("alt_text")
        isSticker = try object.required("sticker")
        renditions = try object.required("renditions")
        importedAt = try object.optional("imported_at")
        trendingAt = try object.optional("trending_at")
    }
}

extension Gif.Rendition: JSONEncodable, JSONDecodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("url", url)
        json.member("mp4", mp4)
        json.member("webp", webp)
        json.member("width", width)
        json.member("height", height)
        json.member("bytes", bytes)
        json.member("frames", frames)
        json.endObject()
    }

    package init(json: JSON) throws(JSONDecodingError) {
        let object = try json.objectValue()
        url = try object.optional("url")
        mp4 = try object.optional("mp4")
        webp = try object.optional("webp")
        width = try object.optional("width")
        height = try object.optional("height")
        bytes = try object.optional("bytes")
        frames = try object.optional("frames")
    }
}
