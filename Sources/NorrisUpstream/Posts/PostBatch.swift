package import NorrisProtocol

/// One source of posts, whatever its API.
package protocol PostUpstream: Sendable {
    /// All posts that the source shows now, unless they are those that the validators name.
    func posts(validators: Validators, timeout: Duration) async throws(UpstreamError) -> Fetched<PostBatch>
}

/// The usable posts of one response.
package struct PostBatch: Sendable, Equatable {
    /// In the order of the response, no id twice.
    package var posts: [Post] = []
    /// Each once, also those without posts.
    package var authors: [Post.Author] = []
    /// The number of items that could not be used.
    package var skipped = 0
    /// The number of repairs before the response could be read.
    package var repairs = 0
    /// Whether the response broke off or was repaired, so that posts may exist that it does not hold.
    package var isPartial: Bool { repairs > 0 }
    /// Whether the response broke off: the same one, whole, may hold more.
    package var isCut = false
    /// Counts the posts as memory of the decoder until the batch is gone.
    var memory = CountedMemory()
}

/// Makes a batch of an upstream's posts: the one way for posts of any kind into norrisd. Whatever is added has the
/// upstream's own ids and texts; the batch is cleaned, bounded, and has ids of the source.
struct PostBatchBuilder {
    /// A response with more items is refused: no reader shows that many, and no feed has them.
    static let maximumItems = 100_000

    private let source: String
    private let budget: DecodingBudget
    private var posts: [Post] = []
    private var authors: [Post.Author] = []
    private var postIDs: Set<String> = []
    /// Indices in ``authors``.
    private var authorIndices: [String: Int] = [:]
    private var skipped = 0
    private var total = 0

    /// - Parameter source: the key of the source under `posts.sources`.
    init(source: String, _ budget: DecodingBudget) {
        self.source = source
        self.budget = budget
    }

    /// Adds a post and its author; nil is skipped, and so is a post without content unless it may be bare. Of those
    /// with the same id the first counts.
    ///
    /// - Parameter isAnonymous: whether the author is set later.
    /// - Returns: the index of the post; nil if it was not added.
    @discardableResult mutating func add(
        _ post: Post?, mayBeBare: Bool = false, isAnonymous: Bool = false
    ) throws(UpstreamError) -> Int? {
        budget.read(bytes: (post?.title?.utf8.count ?? 0) + (post?.text?.utf8.count ?? 0))
        try count()
        guard var post = post?.cleaned(for: source, mayBeBare: mayBeBare) else {
            skipped += 1
            return nil
        }
        guard postIDs.insert(post.id).inserted else { return nil }
        // Posts of one author share its texts.
        if isAnonymous { post.author = Post.Author() } else { post.author = authors[merge(post.author)] }
        budget.spend(bytes: MemoryLayout<Post>.stride)
        budget.hold(post.memory)
        posts.append(post)
        return posts.count - 1
    }

    var isEmpty: Bool { total == 0 }

    /// Gives a post another id of the upstream, unless that is taken.
    mutating func rename(_ index: Int, to id: String) {
        let id = Post.id(id, in: source)
        guard postIDs.insert(id).inserted else { return }
        posts[index].id = id
    }

    /// Sets the author of anonymous posts.
    mutating func set(_ author: Post.Author, of indices: [Int]) {
        let author = authors[merge(author)]
        for index in indices { posts[index].author = author }
    }

    /// Adds an author, who may have no posts.
    mutating func add(_ author: Post.Author) throws(UpstreamError) {
        try count()
        _ = merge(author.cleaned(for: source))
    }

    /// - Throws: an error if there were items, and all were skipped.
    mutating func batch() throws(UpstreamError) -> PostBatch {
        if skipped > 0 && posts.isEmpty && authors.isEmpty {
            throw .unusable("answered with \(skipped) posts, none of them usable")
        }
        // Posts that came before their author was complete get the same author as the others.
        for index in posts.indices {
            if let author = authorIndices[posts[index].author.id] { posts[index].author = authors[author] }
        }
        // Nothing is copied: the builder is at its end.
        defer { posts = [] }
        return PostBatch(posts: posts, authors: authors, skipped: skipped, memory: CountedMemory(lease: budget.memory))
    }

    private mutating func count() throws(UpstreamError) {
        total += 1
        budget.spend(elements: 1)
        try budget.check()
        if total > Self.maximumItems { throw .unusable("answered with more than \(Self.maximumItems) posts") }
    }

    /// The first description of an author counts, later ones fill in what was missing.
    ///
    /// - Returns: the index of the author.
    private mutating func merge(_ author: Post.Author) -> Int {
        guard let index = authorIndices[author.id] else {
            authorIndices[author.id] = authors.count
            authors.append(author)
            budget.hold(author.memory)
            return authors.count - 1
        }
        authors[index].handle = authors[index].handle ?? author.handle
        authors[index].avatarURL = authors[index].avatarURL ?? author.avatarURL
        authors[index].email = authors[index].email ?? author.email
        return index
    }
}
