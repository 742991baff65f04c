import NorrisFetchProtocol
import NorrisProtocol
import NorrisSystem

/// Finds the stored posts that the items of a document are, so that a post keeps its id and its marks.
///
/// The key of an item is not enough: items of one document may share it, and a feed may change it. An item is the post
/// of its key that equals it. Otherwise it is the post that shares link, date, title, text or files with it, if no
/// other item and no other post of the key has the same. An item with a new key is the post with its link and title.
struct PostMatching {
    /// The largest number of stored posts of one key that are compared.
    private static let maximumStored = 2_000

    private let database: Database
    /// The ids of the stored posts that the document contains, and of its new posts.
    private var taken: Set<String> = []

    init(_ database: Database) { self.database = database }

    /// Returns the posts of one source with their ids. A post without a key keeps its id.
    mutating func matched(_ posts: [FetchedPost]) throws -> [FetchedPost] {
        var posts = posts
        var new: Set<Int> = []
        var pages: [UInt64: [Int]] = [:]
        for indices in Dictionary(grouping: posts.indices, by: { posts[$0].itemColumn }).values {
            guard let item = posts[indices[0]].itemColumn else { continue }
            let known = try firstTwo("item", item)
            // Most items need no comparison of texts.
            if indices.count == 1, known.count == 1, let page = known[0].page, page == posts[indices[0]].pageColumn {
                posts[indices[0]].post.id = take(known[0].id)
                continue
            }
            let traits = indices.map { PostTraits(posts[$0].post) }
            for (index, id) in zip(indices, PostTraits.matches(traits, try stored(of: item))) {
                if let id { posts[index].post.id = take(id) } else { new.insert(index) }
                if known.isEmpty, let page = posts[index].pageColumn { pages[page, default: []].append(index) }
            }
        }
        for (page, indices) in pages where indices.count == 1 {
            let known = try firstTwo("page", page)
            guard known.count == 1, !taken.contains(known[0].id) else { continue }
            posts[indices[0]].post.id = take(known[0].id)
            new.remove(indices[0])
        }
        for index in new.sorted() { posts[index].post.id = take(try newID(of: posts[index].post)) }
        return posts
    }

    private mutating func take(_ id: String) -> String {
        taken.insert(id)
        return id
    }

    /// Up to two stored posts with a number in a column.
    private func firstTwo(_ column: String, _ number: UInt64) throws -> [(id: String, page: UInt64?)] {
        try database.map("SELECT id, page FROM posts WHERE \(column) = ? LIMIT 2", [number]) { row in
            (id: try row[0], page: try row[1])
        }
    }

    private func stored(of item: UInt64) throws -> [PostTraits] {
        let sql = """
            SELECT post FROM posts WHERE item = ? ORDER BY held_at IS NOT NULL, number DESC LIMIT \(Self.maximumStored)
            """
        return try database.map(sql, [item]) { PostTraits(try $0.content(0)) }
    }

    /// The id that norris-fetch proposes, or another one if a stored post has it.
    private func newID(of post: Post) throws -> String {
        var id = post.id
        while try taken.contains(id) || database.value("SELECT 1 FROM posts WHERE id = ?", [id]) ?? false {
            let hash = SipHash.hash("\(id) \(PostTraits(post).content)")
            id = "\(post.source):\(hash.digits(radix: 16, width: 16))"
        }
        return id
    }
}

/// The values by which a post is compared, as hashes, because the texts of many posts are large.
private struct PostTraits {
    let id: String
    /// Everything but the id.
    let content: UInt64
    /// Link, date, title, text and files; nil for missing ones.
    let parts: [UInt64?]

    /// The indices of ``parts`` by which items are told apart, the most reliable first.
    private static let levels = [[0, 1, 2], [0, 1], [0, 2], [1, 2], [0], [1], [2], [3], [4]]

    init(_ post: Post) {
        id = post.id
        let files = (post.attachments.map(\.url) + post.images.map(\.url)).joined(separator: "\n")
        let texts = [post.link, post.publishedAt?.description, post.title, post.text, files.isEmpty ? nil : files]
        parts = texts.map { $0.map { SipHash.hash($0) } }
        var nameless = post
        nameless.id = ""
        content = SipHash.hash(nameless.jsonText)
    }

    /// The ids of the stored posts that items of one key are; nil for new items.
    static func matches(_ items: [PostTraits], _ stored: [PostTraits]) -> [String?] {
        var ids = [String?](repeating: nil, count: items.count)
        var rest = Set(stored.indices)
        let contents = Dictionary(grouping: stored.indices) { stored[$0].content }
        for (index, item) in items.enumerated() {
            guard let match = contents[item.content]?.first(where: rest.contains) else { continue }
            ids[index] = stored[match].id
            rest.remove(match)
        }
        if rest.isEmpty { return ids }
        let isAlone = items.count == 1 && stored.count == 1
        for level in levels {
            let matches = unique(stored, level)
            for (parts, index) in unique(items, level) where ids[index] == nil {
                guard let match = matches[parts], rest.contains(match) else { continue }
                // Of items that share their key, only the date or the title may be equal by chance.
                let isWeak = !isAlone && (level == [1] || level == [2])
                if isWeak, items[index].differs(from: stored[match], in: [0]) { continue }
                ids[index] = stored[match].id
                rest.remove(match)
            }
        }
        if isAlone, !items[0].differs(from: stored[0], in: [0, 1, 4]) { ids[0] = stored[0].id }
        return ids
    }

    /// The positions of the posts that have all parts of a level, and differ from all others in them.
    private static func unique(_ posts: [PostTraits], _ level: [Int]) -> [[UInt64]: Int] {
        let parts = posts.enumerated().map { index, post in (level.compactMap { post.parts[$0] }, index) }
        return Dictionary(parts.filter { $0.0.count == level.count }) { _, _ in -1 }.filter { $0.value >= 0 }
    }

    /// Whether two posts have different values of some parts.
    private func differs(from other: PostTraits, in parts: [Int]) -> Bool {
        parts.contains { self.parts[$0] != nil && other.parts[$0] != nil && self.parts[$0] != other.parts[$0] }
    }
}

extension FetchedPost {
    /// A number of the key by which a post is found; nil if its id names it.
    var itemColumn: UInt64? { key.map { SipHash.hash(ofTexts: [post.source, $0]) } }

    /// A number of link and title by which a post is found; nil without one of them.
    var pageColumn: UInt64? {
        guard key != nil, let link = post.link, let title = post.title else { return nil }
        return SipHash.hash(ofTexts: [post.source, link, title])
    }
}

extension Post {
    /// The address of the post without its scheme, because sites change from `http` to `https`.
    fileprivate var link: String? { url.map { String($0.drop { $0 != ":" }) } }
}
