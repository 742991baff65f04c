import NorrisProtocol

/// An API that lists its users with their posts, each post some pictures and a date.
package struct UsersPosts: PostUpstream {
    private let url: String
    private let source: String
    private let fetcher: Fetcher

    package init(
        baseURL: String, source: String, transport: any HTTPTransport, decodingOn executor: (any TaskExecutor)? = nil
    ) {
        url = joinedURL(baseURL, "users/posts")
        self.source = source
        fetcher = Fetcher(transport: transport, executor: executor)
    }

    package func posts(validators: Validators, timeout: Duration) async throws(UpstreamError) -> Fetched<PostBatch> {
        try await fetcher.json(url, validators, timeout) { response, budget throws(UpstreamError) in
            var builder = PostBatchBuilder(source: source, budget)
            try JSONItems.forEach(in: response.body, under: "data", budget) { user throws(UpstreamError) in
                try builder.add(user: user, budget)
            }
            return try builder.batch()
        }
    }
}

extension PostBatchBuilder {
    /// Adds a user, and the posts under `posts` or, in an older form, the one post under `post`. Each member is parsed
    /// by itself, so that a bad one costs no other; the posts may be many.
    fileprivate mutating func add(user: ArraySlice<UInt8>, _ budget: DecodingBudget) throws(UpstreamError) {
        // Shorter ones were counted as items.
        if user.count > JSONItems.maximumItem { budget.spend(bytes: user.count) }
        let members = (try? JSONItems.members(of: user, budget)) ?? [:]
        var person = JSONObject()
        for key in ["uid", "name", "email", "profile_pic"] {
            if let value = members[key], value.count <= JSONItems.maximumItem { person[key] = try? JSON.parse(value) }
        }
        guard let id = person.id("uid") else { return try add(nil) }
        let author = Post.Author(
            id: id, name: person.text("name") ?? "", avatarURL: person.text("profile_pic"), email: person.text("email")
        )
        try add(author)
        let isGiven = { (value: ArraySlice<UInt8>?) in value?.elementsEqual("null".utf8) == false }
        if let posts = members["posts"], isGiven(posts) {
            guard posts.first == "[" else { return try add(nil) }
            try add(posts: posts, by: author, budget)
        } else if let post = members["post"], isGiven(post) {
            // All that a post has there are pictures, and some have none.
            try add(Post(usersPost: post, by: author), mayBeBare: true)
        }
    }

    private mutating func add(
        posts: ArraySlice<UInt8>, by author: Post.Author, _ budget: DecodingBudget
    ) throws(UpstreamError) {
        var read: [Post?] = []
        do throws(UpstreamError) {
            try JSONItems.forEach(in: posts, budget) { item throws(UpstreamError) in
                // One more than may be added is enough to refuse them.
                if read.count <= Self.maximumItems { read.append(Post(usersPost: item, by: author)) }
            }
        } catch {
            try budget.check()
            // The posts before the fault can be used.
            read.append(nil)
        }
        for post in read { try add(post, mayBeBare: true) }
    }
}

extension Post {
    /// Not cleaned; nil for what is no object with an id.
    fileprivate init?(usersPost item: ArraySlice<UInt8>, by author: Author) {
        guard let object = JSONObject(item: item), let id = object.id("id") else { return nil }
        let images = object.texts("pics").map { Image(url: $0) }
        self.init(id: id, source: "", author: author, publishedAt: object.date("date"), images: images)
    }
}
