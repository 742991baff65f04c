import NorrisFetchProtocol
import NorrisProtocol

extension Fetcher {
    /// An API that lists users with their posts. Each post has pictures and a date.
    func usersPosts() throws(UpstreamError) -> Fetched {
        try json("users/posts") { response throws(UpstreamError) in
            var builder = PostBatchBuilder(source: request.source)
            try JSONItems.forEach(in: response.body, under: "data") { user throws(UpstreamError) in
                try builder.add(user: user)
            }
            return try builder.batch()
        }
    }
}

extension PostBatchBuilder {
    /// Adds a user with the posts under `posts`, or in an older form the post under `post`. Each member is parsed
    /// separately, so that an invalid member does not affect others, and posts may be many.
    fileprivate mutating func add(user: ArraySlice<UInt8>) throws(UpstreamError) {
        let members = (try? JSONItems.members(of: user)) ?? [:]
        let person = JSONItem(members, keys: ["uid", "name", "email", "profile_pic"])
        guard let id = person.id("uid") else {
            try add(nil)
            return
        }
        let author = Post.Author(
            id: id, name: person.text("name") ?? "", avatarURL: person.text("profile_pic"),
            email: person.text("email"))
        try add(author)
        let isGiven = { (value: ArraySlice<UInt8>?) in value?.elementsEqual("null".utf8) == false }
        if let posts = members["posts"], isGiven(posts) {
            guard posts.first == "[" else {
                try add(nil)
                return
            }
            try add(posts: posts, by: author)
        } else if let post = members["post"], isGiven(post) {
            // Such a post consists of pictures, of which some posts have none.
            try add(Post(usersPost: post, by: author), mayBeBare: true)
        }
    }

    private mutating func add(
        posts: ArraySlice<UInt8>, by author: Post.Author
    ) throws(UpstreamError) {
        do throws(UpstreamError) {
            try JSONItems.forEach(in: posts) { item throws(UpstreamError) in
                try add(Post(usersPost: item, by: author), mayBeBare: true)
            }
        } catch {
            // The posts before the fault are usable. This call also fails if there are too many posts.
            try add(nil)
        }
    }
}

extension Post {
    /// Decodes a post without cleaning it. Returns nil without an id.
    fileprivate init?(usersPost item: ArraySlice<UInt8>, by author: Author) {
        guard let object = JSONItem(item: item), let id = object.id("id") else { return nil }
        let images = object.texts("pics").map { Image(url: $0) }
        self.init(id: id, source: "", author: author, publishedAt: object.date("date"), images: images)
    }
}
