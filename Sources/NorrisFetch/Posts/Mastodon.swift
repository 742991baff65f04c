import NorrisFetchProtocol
import NorrisProtocol
import NorrisText

extension Fetcher {
    /// The public timeline of a Mastodon server, or of a server with the same API.
    func mastodon(_ base: HTTPURL) throws(UpstreamError) -> Fetched {
        do throws(UpstreamError) {
            // 40 is the largest page.
            return try json("api/v1/timelines/public?limit=40") { response throws(UpstreamError) in
                var builder = PostBatchBuilder(source: request.source)
                try JSONItems.forEach(in: response.body[...]) { item throws(UpstreamError) in
                    try builder.add(JSONItem(item: item).flatMap { Post(status: $0, host: base.host) })
                }
                return try builder.batch()
            }
        } catch {
            // Mastodon answers 422 instead of 401.
            guard case .http(let status) = error.kind, status == 401 || status == 422 else { throw error }
            let timeline = "The public timeline of \(base.authority)"
            let advice = "and norrisd has none; put another server into posts.sources.\(request.source).url."
            throw UpstreamError(error.kind, "\(timeline) needs a login (HTTP \(status)), \(advice)")
        }
    }
}

extension Post {
    /// Decodes a status (https://docs.joinmastodon.org/entities/Status) without cleaning it. Returns nil without id or
    /// author. A boost has the content of the boosted status, but its own id and date.
    init?(status outer: JSONItem, host: String) {
        let status = outer.object("reblog") ?? outer
        guard let id = outer.id("id"), let account = status.object("account"),
            let author = Author(account: account, host: host)
        else { return nil }
        let media = status.objects("media_attachments")
        let warning = status.text("spoiler_text").flatMap { cleanLine($0, upTo: 500) }
        // Includes the hidden parts of a link's URL.
        let content = status.text("content").map { MarkupText(html: $0, at: nil) }
        let choices = (status.object("poll")?.objects("options") ?? []).compactMap { $0.text("title") }
        let poll = choices.compactMap { cleanLine($0, upTo: 500) }
        let (text, markdown) = (\MarkupText.text, \MarkupText.markdown)
        let texts = [text, markdown].map { form in
            let items = poll.map { "- \(MarkupText(plain: $0)[keyPath: form])" }.joined(separator: "\n")
            return [content?[keyPath: form] ?? "", items].filter { !$0.isEmpty }.joined(separator: "\n\n")
        }
        self.init(
            id: id, source: "", author: author, publishedAt: outer.date("created_at"), title: warning,
            text: texts[0], markdown: texts[1],
            isSensitive: warning != nil || (status.truth("sensitive") == true && !media.isEmpty),
            tags: status.objects("tags").compactMap { $0.text("name") },
            images: media.compactMap(Image.init(attachment:)),
            attachments: media.compactMap(Attachment.init(attachment:)), links: content?.links,
            stats: Stats(
                likes: status.number("favourites_count"), comments: status.number("replies_count"),
                shares: status.number("reblogs_count")), url: status.text("url") ?? status.text("uri"))
    }
}

extension Post.Author {
    /// - Parameter host: the host of the server, whose API leaves the host out of local handles.
    fileprivate init?(account: JSONItem, host: String) {
        guard let id = account.id("id") else { return nil }
        let username = account.text("username") ?? ""
        let name = account.text("display_name").flatMap { cleanLine($0, upTo: 200) }
        let address = account.text("acct") ?? username
        self.init(
            id: id, name: name ?? username,
            handle: address.isEmpty ? nil : address.contains("@") ? "@\(address)" : "@\(address)@\(host)",
            avatarURL: account.text("avatar"))
    }
}

extension Post.Attachment {
    /// The sound or video; nil for pictures.
    fileprivate init?(attachment: JSONItem) {
        guard let url = attachment.text("url") ?? attachment.text("remote_url"), attachment.text("type") != "image"
        else { return nil }
        self.init(url: url, seconds: attachment.object("meta")?.number("duration"))
    }
}

extension Post.Image {
    /// The picture, or the preview of a video; nil for sound and for unknown types.
    fileprivate init?(attachment: JSONItem) {
        let type = attachment.text("type")
        guard let type, ["image", "gifv", "video"].contains(type) else { return nil }
        let original = type == "image" ? attachment.text("url") : nil
        guard let url = original ?? attachment.text("preview_url") else { return nil }
        let size = attachment.object("meta")?.object(original == nil ? "small" : "original")
        self.init(
            url: url, width: size?.number("width"), height: size?.number("height"),
            alt: attachment.text("description"))
    }
}
