/// A post as the state knows it: 64 bits of its id.
///
/// Two posts may share one, once in some 10^19; then one counts as read with the other, and no harm is done.
struct PostKey: Hashable, Sendable {
    let digest: Int64

    init(digest: Int64) {
        self.digest = digest
    }

    init(id: String) {
        digest = Int64(bitPattern: SipHash.hash(id.utf8, key: (0, 0)))
    }
}

/// What one user has read.
package struct ReadPosts: Sendable {
    var keys: Set<PostKey> = []

    /// Of somebody who has read nothing.
    package init() {}

    package func contains(_ id: String) -> Bool {
        contains(PostKey(id: id))
    }

    func contains(_ post: PostKey) -> Bool {
        keys.contains(post)
    }
}
