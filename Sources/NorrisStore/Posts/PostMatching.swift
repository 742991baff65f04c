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
    private static let maximumStored = 4_000
    /// The ``parts(of:)`` by which items are told apart, the most reliable first.
    private static let levels = [[0, 1, 2], [0, 1], [0, 2], [1, 2], [0], [1], [2], [3], [4]]

    private let database: Database
    /// The ids of the stored posts that the document contains, and of its new posts.
    private var taken: Set<String> = []

    init(_ database: Database) { self.database = database }

    /// Returns the posts of one source with their ids. A post without a key keeps its id.
    mutating func matched(_ posts: [FetchedPost]) throws -> [FetchedPost] {
        var posts = posts
        var new: Set<Int> = []
        var ofPages: [UInt64: [Int]] = [:]
        for indices in Dictionary(grouping: posts.indices, by: { posts[$0].itemColumn }).values {
            guard let item = posts[indices[0]].itemColumn else { continue }
            // Most items need no comparison of texts.
            let pages = try database.map("SELECT id, page FROM posts WHERE item = ? LIMIT 2", [item]) { row in
                (id: try row[0] as String, page: try row[1] as UInt64?)
            }
            if indices.count == 1, pages.count == 1, let page = pages[0].page, page == posts[indices[0]].pageColumn {
                posts[indices[0]].post.id = take(pages[0].id)
                continue
            }
            let stored = try stored("item = ? ORDER BY held_at IS NOT NULL, number DESC", item)
            for (index, id) in zip(indices, Self.ids(of: indices.map { posts[$0].post }, in: stored)) {
                if let id { posts[index].post.id = take(id) } else { new.insert(index) }
                if stored.isEmpty, let page = posts[index].pageColumn { ofPages[page, default: []].append(index) }
            }
        }
        for (page, indices) in ofPages where indices.count == 1 {
            let stored = try stored("page = ?", page)
            guard stored.count == 1, !taken.contains(stored[0].id) else { continue }
            posts[indices[0]].post.id = take(stored[0].id)
            new.remove(indices[0])
        }
        for index in new.sorted() { posts[index].post.id = take(try newID(of: posts[index].post)) }
        return posts
    }

    private mutating func take(_ id: String) -> String {
        taken.insert(id)
        return id
    }

    private func stored(_ condition: String, _ number: UInt64) throws -> [Post] {
        try database.map("SELECT post FROM posts WHERE \(condition) LIMIT \(Self.maximumStored)", [number]) {
            try $0.content(0)
        }
    }

    /// The id that norris-fetch proposes, or another one if a stored post has it.
    private func newID(of post: Post) throws -> String {
        var id = post.id
        while try taken.contains(id) || database.value("SELECT 1 FROM posts WHERE id = ?", [id]) ?? false {
            id = "\(post.source):\(SipHash.hash(id + Self.content(of: post)).digits(radix: 16, width: 16))"
        }
        return id
    }

    /// The ids of the stored posts that items of one key are; nil for new items.
    private static func ids(of items: [Post], in stored: [Post]) -> [String?] {
        var ids = [String?](repeating: nil, count: items.count)
        var rest = Set(stored.indices)
        let contents = Dictionary(grouping: stored.indices) { content(of: stored[$0]) }
        for (index, item) in items.enumerated() {
            guard let match = contents[content(of: item)]?.first(where: rest.contains) else { continue }
            ids[index] = stored[match].id
            rest.remove(match)
        }
        if rest.isEmpty { return ids }
        let (parts, storedParts) = (items.map(parts), stored.map(parts))
        let isAlone = items.count == 1 && stored.count == 1
        for level in levels {
            let matches = positions(of: level, in: storedParts)
            for (name, index) in positions(of: level, in: parts) where ids[index] == nil {
                guard let match = matches[name], rest.contains(match) else { continue }
                // Of items that share their key, only the date or the title may be equal by chance.
                let isWeak = !isAlone && (level == [1] || level == [2])
                if isWeak, differ(parts[index], storedParts[match], in: [0]) { continue }
                ids[index] = stored[match].id
                rest.remove(match)
            }
        }
        if isAlone, !differ(parts[0], storedParts[0], in: [0, 1, 4]) { ids[0] = stored[0].id }
        return ids
    }

    /// Whether two posts have different values of some parts.
    private static func differ(_ first: [String?], _ second: [String?], in parts: [Int]) -> Bool {
        parts.contains { first[$0] != nil && second[$0] != nil && first[$0] != second[$0] }
    }

    /// The posts that differ from all others in the parts of a level.
    private static func positions(of level: [Int], in parts: [[String?]]) -> [String: Int] {
        let names = parts.enumerated().compactMap { index, parts -> (String, Int)? in
            let chosen = level.compactMap { parts[$0] }
            return chosen.count == level.count ? (chosen.joined(separator: "\n"), index) : nil
        }
        return Dictionary(names) { _, _ in -1 }.filter { $0.value >= 0 }
    }

    /// Link, date, title, text and files of a post; nil for missing ones.
    private static func parts(of post: Post) -> [String?] {
        let files = (post.attachments.map(\.url) + post.images.map(\.url)).joined(separator: "\n")
        return [post.link, post.publishedAt?.description, post.title, post.text, files.isEmpty ? nil : files]
    }

    /// Everything of a post but its id.
    private static func content(of post: Post) -> String {
        var post = post
        post.id = ""
        return post.jsonText
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
