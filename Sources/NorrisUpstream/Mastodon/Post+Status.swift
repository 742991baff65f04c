import NorrisProtocol

extension Post {
    /// What a status says (https://docs.joinmastodon.org/entities/Status), not cleaned; nil if it has no id or author.
    ///
    /// One that only passes on another's says what that one says, but is it of its own, with a date of its own.
    init?(status outer: JSONObject, host: String, _ budget: DecodingBudget) {
        let status = outer.object("reblog") ?? outer
        guard let id = outer.id("id"), let account = status.object("account"),
            let author = Author(account: account, host: host)
        else { return nil }
        let media = status.elements("media_attachments")
        let warning = status.text("spoiler_text").flatMap { cleanLine($0, upTo: 500) }
        self.init(
            id: id,
            source: "",
            author: author,
            publishedAt: outer.text("created_at").flatMap { Timestamp($0) },
            title: warning,
            // The hidden parts of a link's address come along, so that it is whole.
            text: status.text("content").map { plainText(fromCertainHTML: $0, budget) },
            isSensitive: warning != nil || (status.truth("sensitive") == true && !media.isEmpty),
            tags: status.elements("tags").compactMap { tag in
                if case .object(let tag) = tag { tag.text("name") } else { nil }
            },
            images: media.compactMap(Image.init(attachment:)),
            stats: Stats(
                likes: status.number("favourites_count"), comments: status.number("replies_count"),
                shares: status.number("reblogs_count")
            ),
            url: status.text("url") ?? status.text("uri")
        )
    }
}

extension Post.Author {
    /// - Parameter host: completes the handles of the server's own people.
    fileprivate init?(account: JSONObject, host: String) {
        guard let id = account.id("id") else { return nil }
        let username = account.text("username") ?? ""
        let name = account.text("display_name").flatMap { cleanLine($0, upTo: 200) }
        let address = account.text("acct") ?? username
        self.init(
            id: id,
            name: name ?? username,
            handle: address.isEmpty ? nil : address.contains("@") ? "@\(address)" : "@\(address)@\(host)",
            avatarURL: account.text("avatar")
        )
    }
}

extension Post.Image {
    /// The picture itself, or the still picture of what moves; nil for sound, and for what the server does not know.
    fileprivate init?(attachment json: JSON) {
        guard case .object(let attachment) = json else { return nil }
        let preview = attachment.text("preview_url")
        let url: String?
        let size: String
        switch attachment.text("type") {
        case "image":
            let original = attachment.text("url")
            (url, size) = original == nil ? (preview, "small") : (original, "original")
        case "gifv", "video":
            (url, size) = (preview, "small")
        default:
            return nil
        }
        guard let url else { return nil }
        let pixels = attachment.object("meta")?.object(size)
        self.init(
            url: url, width: pixels?.number("width"), height: pixels?.number("height"),
            alt: attachment.text("description")
        )
    }
}
