extension Post: JSONEncodable, JSONDecodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("id", id)
        json.member("source", source)
        json.member("author", author)
        json.member("published_at", publishedAt)
        json.member("title", title)
        json.member("text", text)
        json.member("sensitive", isSensitive ? true : nil)
        json.member("tags", tags)
        json.member("images", images)
        json.member("stats", stats)
        json.member("url", url)
        json.member("read", isRead)
        json.endObject()
    }

    package init(json: JSON) throws(JSONDecodingError) {
        let object = try json.objectValue()
        id = try object.required("id")
        source = try object.required("source")
        author = try object.required("author")
        publishedAt = try object.optional("published_at")
        title = try object.optional("title")
        text = try object.optional("text")
        isSensitive = try object.optional("sensitive") ?? false
        tags = try object.required("tags")
        images = try object.required("images")
        stats = try object.required("stats")
        url = try object.optional("url")
        isRead = try object.required("read")
    }
}

extension Post.Author: JSONEncodable, JSONDecodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("id", id)
        json.member("name", name)
        json.member("handle", handle)
        json.member("avatar_url", avatarURL)
        json.member("email", email)
        json.endObject()
    }

    package init(json: JSON) throws(JSONDecodingError) {
        let object = try json.objectValue()
        id = try object.required("id")
        name = try object.required("name")
        handle = try object.optional("handle")
        avatarURL = try object.optional("avatar_url")
        email = try object.optional("email")
    }
}

extension Post.Image: JSONEncodable, JSONDecodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("url", url)
        json.member("width", width)
        json.member("height", height)
        json.member("alt", alt)
        json.endObject()
    }

    package init(json: JSON) throws(JSONDecodingError) {
        let object = try json.objectValue()
        url = try object.required("url")
        width = try object.optional("width")
        height = try object.optional("height")
        alt = try object.optional("alt")
    }
}

extension Post.Stats: JSONEncodable, JSONDecodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("likes", likes)
        json.member("comments", comments)
        json.member("shares", shares)
        json.endObject()
    }

    package init(json: JSON) throws(JSONDecodingError) {
        let object = try json.objectValue()
        likes = try object.optional("likes")
        comments = try object.optional("comments")
        shares = try object.optional("shares")
    }
}
