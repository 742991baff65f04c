import NorrisProtocol

/// Makes a batch of what an upstream says, as it says it: the one way for posts of any kind into norrisd.
///
/// Whatever is added has the upstream's own ids and texts; what comes out is cleaned, bounded, and named for the
/// source.
struct PostBatchBuilder {
    /// An answer with more items is refused: no reader shows that many, and no feed has them.
    static let maximumItems = 100_000

    private let source: String
    private let budget: DecodingBudget
    private var posts: [Post] = []
    private var authors: [Post.Author] = []
    private var postIDs: Set<String> = []
    /// Where in ``authors`` each stands.
    private var authorPlaces: [String: Int] = [:]
    private var skipped = 0
    private var total = 0

    /// - Parameter source: the key of the source under `posts.sources`.
    init(source: String, _ budget: DecodingBudget) {
        self.source = source
        self.budget = budget
    }

    /// Adds a post and its author; one without content is skipped, and of those with the same id the first counts.
    ///
    /// - Parameter mayBeBare: whether a post without content is one as well.
    mutating func add(_ post: Post, mayBeBare: Bool = false) throws(UnusableBody) {
        budget.read(bytes: (post.title?.utf8.count ?? 0) + (post.text?.utf8.count ?? 0))
        try count()
        guard let post = post.cleaned(for: source, mayBeBare: mayBeBare) else {
            skipped += 1
            return
        }
        merge(post.author)
        guard postIDs.insert(post.id).inserted else { return }
        budget.spend(bytes: MemoryLayout<Post>.stride)
        posts.append(post)
    }

    /// Adds an author, who may have no posts.
    mutating func add(_ author: Post.Author) throws(UnusableBody) {
        try count()
        merge(author.cleaned(for: source))
    }

    /// Counts an item of which nothing can be made.
    mutating func skip() throws(UnusableBody) {
        try count()
        skipped += 1
    }

    /// What was added.
    ///
    /// - Throws: a fault if there was something, and none of it of use.
    func batch() throws(UnusableBody) -> PostBatch {
        if skipped > 0 && posts.isEmpty && authors.isEmpty {
            throw .fault("answered with \(skipped) posts of which none can be used")
        }
        // Posts that came before their author was complete are to name the same author as the others.
        let posts = posts.map { post in
            var post = post
            if let place = authorPlaces[post.author.id] { post.author = authors[place] }
            return post
        }
        return PostBatch(posts: posts, authors: authors, skipped: skipped)
    }

    private mutating func count() throws(UnusableBody) {
        total += 1
        budget.spend(elements: 1)
        try budget.check()
        if total > Self.maximumItems { throw .fault("answered with more than \(Self.maximumItems) posts") }
    }

    /// The first word on an author counts, later ones fill in what was missing.
    private mutating func merge(_ author: Post.Author) {
        guard let place = authorPlaces[author.id] else {
            authorPlaces[author.id] = authors.count
            authors.append(author)
            return
        }
        authors[place].handle = authors[place].handle ?? author.handle
        authors[place].avatarURL = authors[place].avatarURL ?? author.avatarURL
        authors[place].email = authors[place].email ?? author.email
    }
}
