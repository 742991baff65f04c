import NorrisFetchProtocol
import NorrisProtocol
import NorrisSystem
import Testing

@testable import NorrisFetch
@testable import NorrisStore

/// The ids of posts whose feeds change, from the documents of the feeds.
struct PostMatchingTests {
    /// An item of a feed that knows its items by some of these values. The number of comments names the item here.
    private struct Item: Hashable {
        let number: Int
        var (guid, link, title): (String?, String?, String)
        var date: Int?
        var text: String

        var xml: String {
            let date = date.map { "<pubDate>\(Timestamp(seconds: Int64($0) * 86_400))</pubDate>" } ?? ""
            return """
                <item>\(guid.map { "<guid isPermaLink='false'>\($0)</guid>" } ?? "")<title>\(title)</title>
                \(link.map { "<link>\($0)</link>" } ?? "")\(date)<description>\(text)</description>
                <slash:comments>\(number)</slash:comments></item>
                """
        }
    }

    /// The values by which the items of a feed differ.
    private enum Kind: CaseIterable {
        case guid, link, content, guidForAll, linkForAll, guidThatChanges

        func item(_ number: Int, _ random: inout SeededRandom) -> Item {
            let (own, site) = ("https://a.example/\(number)", "https://a.example/")
            let isDated = Bool.random(using: &random)
            let date = isDated ? 10_000 + number : nil
            let title = "News \(number)"
            var item = Item(number: number, guid: nil, link: own, title: title, date: date, text: "Text \(number)")
            switch self {
            case .guid: (item.guid, item.title) = ("guid \(number)", isDated ? "News" : title)
            case .link: if isDated { item.title = "News" }
            case .content: item.link = site
            case .guidForAll:
                item.guid = "0"
                if isDated { item.link = nil } else { item.title = "News" }
            case .linkForAll: item.link = "https://a.example/poll"
            case .guidThatChanges: item.guid = "guid \(number)"
            }
            return item
        }

        /// Changes some of the values by which an item is not known.
        func edit(_ item: inout Item, _ random: inout SeededRandom) {
            item.text += "."
            switch self {
            case .guid, .link:
                if Bool.random(using: &random) { item.title += "!" } else { item.date = (item.date ?? 0) + 1 }
            case .content: item.date = (item.date ?? 0) + 1_000
            case .guidForAll, .linkForAll: break
            case .guidThatChanges:
                item.guid = "\(item.guid ?? "")-\(Int.random(in: 0..<3, using: &random))"
                item.link = item.link?.replacing("https:", with: Bool.random(using: &random) ? "http:" : "https:")
            }
        }
    }

    private func posts(of items: [Item], source: String) throws -> [FetchedPost] {
        let document = """
            <rss xmlns:slash="http://purl.org/rss/1.0/modules/slash/"><channel><title>A</title>
            <link>https://a.example/</link>\(items.map(\.xml).joined())</channel></rss>
            """
        var request = FetchRequest(.feed, url: "https://a.example/feed")
        request.source = source
        return Fetcher(request: request, document: Array(document.utf8)).fetch().items.compactMap { $0 as? FetchedPost }
    }

    @Test("Posts keep their ids while the items of their feed come, go, repeat, change and move")
    func randomFeeds() async throws {
        let store = try await PostStore.new()
        for seed in 0..<1_000 as Range<UInt64> {
            try await store.databases.write(store.databases.cache) { try check(seed, $0) }
        }
    }

    private func check(_ seed: UInt64, _ database: Database) throws {
        var random = SeededRandom(seed: seed)
        let kind = Kind.allCases[Int(seed) % Kind.allCases.count]
        let source = "s\(seed)"
        var (items, count): ([Item], Int) = ([], 0)
        var ids: [Int: String] = [:]
        for step in 1...4 {
            if step > 1 { items.removeAll { _ in Int.random(in: 0..<5, using: &random) == 0 } }
            for index in items.indices where Int.random(in: 0..<4, using: &random) == 0 {
                kind.edit(&items[index], &random)
            }
            // With one item and one post of a key, a new item cannot be told from an edited one.
            for _ in 0..<Int.random(in: step == 1 ? 2...3 : 0...3, using: &random) {
                count += 1
                items.insert(kind.item(count, &random), at: 0)
            }
            if Int.random(in: 0..<3, using: &random) == 0 { items.shuffle(using: &random) }
            let document = items + items.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
            let now = Timestamp(seconds: Int64(step))
            var (matching, stored) = (PostMatching(database), PostImport(source: source, at: now))
            let posts = try matching.matched(posts(of: document, source: source))
            for (position, post) in posts.enumerated() { try stored.take(post, position, database) }
            try stored.leaveOthers(last: now, isComplete: true, database)
            let found = try database.map("SELECT post FROM posts WHERE source = ?", [source]) {
                try $0.content(0) as Post
            }
            for post in found {
                let number = post.stats.comments ?? 0
                #expect(ids[number, default: post.id] == post.id, "seed \(seed), item \(number)")
                ids[number] = post.id
            }
            try #require(found.count == count && ids.count == count, "seed \(seed), step \(step), \(kind)")
        }
    }
}
