package import NorrisProtocol

/// One source of posts, whatever is spoken there.
package protocol PostUpstream: Sendable {
    /// All posts that the source shows now, unless they are what the validators name.
    func posts(validators: Validators, timeout: Duration) async throws(UpstreamError) -> Fetched<PostBatch>
}

/// The usable posts of one answer.
package struct PostBatch: Sendable, Equatable {
    /// In the order of the answer, no id twice.
    package var posts: [Post]
    /// Each once, also those without posts.
    package var authors: [Post.Author]
    /// How many items could not be used.
    package var skipped: Int
    /// How much of the answer had to be repaired before it could be read.
    package var repairs = 0
    /// Whether the answer broke off, so that what it does not hold may be there all the same.
    package var isPartial = false

    package init(posts: [Post] = [], authors: [Post.Author] = [], skipped: Int = 0) {
        self.posts = posts
        self.authors = authors
        self.skipped = skipped
    }
}
