/// A favorite of a user, as the protocol and exported files represent it.
package struct Favorite: SharedObject {
    /// The kind of a favorite. A newer daemon may know more kinds.
    package struct Kind: OpenString {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }
        package static let fact = Kind(rawValue: "fact")
        package static let gif = Kind(rawValue: "gif")
        package static let post = Kind(rawValue: "post")
        package static let all = [fact, gif, post]
    }

    package var kind: Kind = .fact
    package var id = ""
    /// One line of plain text that identifies the favorite even after its content was deleted.
    package var title = ""
    package var addedAt = Timestamp(seconds: 0)
    /// The content of this kind, if it is stored.
    package var fact: Fact?
    package var gif: Gif?
    package var post: Post?

    package init(
        kind: Kind, id: String, title: String, addedAt: Timestamp, fact: Fact? = nil, gif: Gif? = nil, post: Post? = nil
    ) {
        (self.kind, self.id, self.title, self.addedAt) = (kind, id, title, addedAt)
        (self.fact, self.gif, self.post) = (fact, gif, post)
    }

    package init() {}

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("kind", &kind)
        try members.required("id", &id)
        try members.required("title", &title)
        try members.required("added_at", &addedAt)
        try members.optional("fact", &fact)
        try members.optional("gif", &gif)
        try members.optional("post", &post)
    }
}
