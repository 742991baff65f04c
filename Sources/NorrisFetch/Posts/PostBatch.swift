import NorrisFetchProtocol
import NorrisProtocol

/// Builds a batch of posts from an upstream's ids and texts; all posts of norrisd pass through it. The batch has
/// cleaned texts, limited sizes, and ids that begin with the source.
struct PostBatchBuilder {
    /// The largest number of items in an accepted response. Real feeds have far fewer.
    static let maximumItems = 100_000
    /// The largest number of posts of one fetch.
    static let maximumPosts = 2_000

    private let source: String
    private var posts: [FetchedPost] = []
    private var authors: [Post.Author] = []
    private var postIDs: Set<String> = []
    private var authorIndices: [String: Int] = [:]
    private var skipped = 0
    private var total = 0

    /// - Parameter source: the key of the source under `posts.sources`.
    init(source: String) {
        self.source = source
    }

    /// Adds a post and its author, unless a post already has its id. Counts an unusable post: nil, or without content
    /// unless `mayBeBare`.
    mutating func add(_ post: Post?, mayBeBare: Bool = false) throws(UpstreamError) {
        try add(cleaned: post?.cleaned(for: source, mayBeBare: mayBeBare), key: nil)
    }

    /// - Parameter key: see ``FetchedPost``. Posts with a key may have equal ids.
    mutating func add(cleaned post: Post?, key: String?) throws(UpstreamError) {
        try count()
        guard var post else { return skipped += 1 }
        guard postIDs.insert(post.id).inserted || key != nil else { return }
        // All posts of an author share the storage of its texts.
        post.author = authors[merge(post.author)]
        posts.append(FetchedPost(post, key: key))
    }

    mutating func add(_ author: Post.Author) throws(UpstreamError) {
        try count()
        _ = merge(author.cleaned(for: source))
    }

    /// - Throws: an error if all items were skipped.
    mutating func batch() throws(UpstreamError) -> Fetched {
        if skipped > 0 && posts.isEmpty && authors.isEmpty {
            throw .unusable("answered with \(skipped) posts, none of them usable")
        }
        // Posts added before the description of their author was complete get the complete author.
        for index in posts.indices {
            let id = posts[index].post.author.id
            if let author = authorIndices[id] { posts[index].post.author = authors[author] }
        }
        let named = Set(posts.map(\.post.author.id))
        var batch = Fetched(items: PostBatchBuilder.newest(posts))
        batch.head.authors = Array(authors.filter { !named.contains($0.id) }.prefix(PostBatchBuilder.maximumPosts))
        batch.head.skipped = skipped
        return batch
    }

    /// The newest posts of a long document, in its order. Posts without a date count as new.
    private static func newest(_ posts: [FetchedPost]) -> [FetchedPost] {
        guard posts.count > maximumPosts else { return posts }
        let newest = posts.enumerated().sorted { first, second in
            let times = (first.element.post.publishedAt, second.element.post.publishedAt)
            return (times.0?.seconds ?? .max, second.offset) > (times.1?.seconds ?? .max, first.offset)
        }
        return newest.prefix(maximumPosts).sorted { $0.offset < $1.offset }.map(\.element)
    }

    private mutating func count() throws(UpstreamError) {
        total += 1
        if total > Self.maximumItems { throw .unusable("answered with more than \(Self.maximumItems) posts") }
    }

    /// Adds an author, or fills in the missing values of a known author. Returns the index of the author.
    private mutating func merge(_ author: Post.Author) -> Int {
        guard let index = authorIndices[author.id] else {
            authorIndices[author.id] = authors.count
            authors.append(author)
            return authors.count - 1
        }
        authors[index].handle = authors[index].handle ?? author.handle
        authors[index].avatarURL = authors[index].avatarURL ?? author.avatarURL
        authors[index].email = authors[index].email ?? author.email
        return index
    }
}
