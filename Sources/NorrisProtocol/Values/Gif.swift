/// A GIF of Giphy as the protocol represents it: its metadata and the URLs of its pictures.
package struct Gif: SharedObject {
    package var id = ""
    /// One line of plain text; can be empty.
    package var title = ""
    /// Giphy's rating: `g`, `pg`, `pg-13` or `r`; older data contains others.
    package var rating = ""
    /// The page of the GIF on Giphy.
    package var pageURL = ""
    package var username: String?
    package var altText: String?
    package var isSticker = false
    /// By Giphy's names, such as `original` and `fixed_width`. Any name can be missing.
    package var renditions: [String: Rendition] = [:]
    package var importedAt: Timestamp?
    package var trendingAt: Timestamp? = nil

    /// The attribution that Giphy requires from all users of its API.
    package static let attribution = "Powered by GIPHY"

    package init(
        id: String, title: String, rating: String, pageURL: String, username: String? = nil, altText: String? = nil,
        isSticker: Bool = false, renditions: [String: Rendition] = [:], importedAt: Timestamp? = nil,
        trendingAt: Timestamp? = nil
    ) {
        (self.id, self.title, self.rating, self.pageURL) = (id, title, rating, pageURL)
        (self.username, self.altText, self.isSticker) = (username, altText, isSticker)
        (self.renditions, self.importedAt, self.trendingAt) = (renditions, importedAt, trendingAt)
    }

    package init() {}

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
        try members.required("title", &title)
        try members.required("rating", &rating)
        try members.required("page_url", &pageURL)
        try members.optional("username", &username)
        try members.optional("alt_text", &altText)
        try members.required("sticker", &isSticker)
        try members.required("renditions", &renditions)
        try members.optional("imported_at", &importedAt)
        try members.optional("trending_at", &trendingAt)
        try members.constant("attribution", Gif.attribution)
    }

    /// One size and format of the picture. URLs are byte for byte as Giphy sent them.
    package struct Rendition: SharedObject {
        /// The URL of the moving or still picture.
        package var url: String?
        package var mp4: String?
        package var webp: String?
        /// In pixels.
        package var width: Int?
        package var height: Int?
        /// The size of the file at ``url``.
        package var bytes: Int?
        package var frames: Int?

        package init(
            url: String? = nil, mp4: String? = nil, webp: String? = nil, width: Int? = nil, height: Int? = nil,
            bytes: Int? = nil, frames: Int? = nil
        ) {
            (self.url, self.mp4, self.webp) = (url, mp4, webp)
            (self.width, self.height, self.bytes, self.frames) = (width, height, bytes, frames)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.optional("url", &url)
            try members.optional("mp4", &mp4)
            try members.optional("webp", &webp)
            try members.optional("width", &width)
            try members.optional("height", &height)
            try members.optional("bytes", &bytes)
            try members.optional("frames", &frames)
        }
    }
}

extension Gif {
    /// The names of Giphy's other endpoints, which have the same path as an id.
    private static let reserved: Set<String> = ["categories", "random", "related", "search", "translate", "trending"]

    /// Whether a GIF may have this id: 1 to 64 letters and digits of ASCII, hyphens and underscores. Another id is not
    /// fetched, because it would address nothing or another endpoint.
    package static func isPossibleID(_ id: String) -> Bool {
        (1...64).contains(id.utf8.count) && !reserved.contains(id.lowercased())
            && id.utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x7A ~= $0 | 0x20 || $0 == 0x2D || $0 == 0x5F }
    }
}
