import NorrisProtocol

extension PostBatch {
    /// Reads an object with the users under `data`, complete and valid as a whole.
    init(usersPosts body: [UInt8], source: String, _ budget: DecodingBudget) throws(UnusableBody) {
        var builder = PostBatchBuilder(source: source, budget)
        try JSONItems.forEach(in: body, under: "data", budget) { item throws(UnusableBody) in
            guard let user = UserObject(Array(item), budget) else { return try builder.skip() }
            try builder.add(user, budget)
        }
        self = try builder.batch()
    }
}

/// The members of a user, each read by itself, so that a bad one costs no other; the posts may be many.
private struct UserObject {
    private let bytes: [UInt8]
    private let members: [String: Range<Int>]

    /// Nil for what is no object.
    init?(_ bytes: [UInt8], _ budget: DecodingBudget) {
        // Shorter ones were counted as items.
        if bytes.count > JSONItems.maximumItem { budget.spend(bytes: bytes.count) }
        guard let members = try? JSONItems.members(of: bytes, budget) else { return nil }
        self.bytes = bytes
        self.members = members
    }

    /// Nil if it is absent, null, or not JSON.
    subscript(_ key: String) -> JSON? {
        guard let value = slice(key), value.count <= JSONItems.maximumItem else { return nil }
        return try? JSON.parse(value)
    }

    /// Nil if it is absent or null.
    func slice(_ key: String) -> ArraySlice<UInt8>? {
        members[key].map { bytes[$0] }.flatMap { $0.elementsEqual("null".utf8) ? nil : $0 }
    }

    /// The members that an author is made of.
    var person: JSONObject {
        var object = JSONObject()
        for key in ["uid", "name", "email", "profile_pic"] {
            if let value = self[key] { object[key] = value }
        }
        return object
    }
}

extension PostBatchBuilder {
    /// Adds a user, and what is under `posts` or, as an older form has it, the one post under `post`.
    fileprivate mutating func add(_ user: UserObject, _ budget: DecodingBudget) throws(UnusableBody) {
        let person = user.person
        guard let id = person.id("uid") else { return try skip() }
        let author = Post.Author(
            id: id, name: person.text("name") ?? "", avatarURL: person.text("profile_pic"),
            email: person.text("email")
        )
        try add(author)
        if let posts = user.slice("posts") {
            guard posts.first == UInt8(ascii: "[") else { return try skip() }
            try add(posts: Array(posts), by: author, budget)
        } else if user.slice("post") != nil {
            try add(user["post"].flatMap { Post(usersPost: $0, by: author) })
        }
    }

    private mutating func add(
        posts: [UInt8], by author: Post.Author, _ budget: DecodingBudget
    ) throws(UnusableBody) {
        var read: [Post?] = []
        do throws(UnusableBody) {
            try JSONItems.forEach(in: posts, under: nil, budget) { item throws(UnusableBody) in
                // One more than may be added is enough to refuse them.
                guard read.count <= Self.maximumItems else { return }
                let json = item.count <= JSONItems.maximumItem ? try? JSON.parse(item) : nil
                read.append(json.flatMap { Post(usersPost: $0, by: author) })
            }
        } catch {
            try budget.check()
            // What stands before the fault can be used.
            read.append(nil)
        }
        for post in read { try add(post) }
    }

    private mutating func add(_ post: Post?) throws(UnusableBody) {
        guard let post else { return try skip() }
        // All that a post has there are pictures, and some have none.
        try add(post, mayBeBare: true)
    }
}

extension Post {
    /// Not cleaned; nil for what is no object with an id.
    fileprivate init?(usersPost json: JSON, by author: Author) {
        guard case .object(let object) = json, let id = object.id("id") else { return nil }
        self.init(
            id: id, source: "", author: author, publishedAt: object.text("date").flatMap(javaScriptDate),
            images: object.elements("pics").compactMap { pic in
                if case .string(let url) = pic { Image(url: url) } else { nil }
            }
        )
    }
}
