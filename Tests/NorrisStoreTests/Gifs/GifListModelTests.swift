import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

@testable import NorrisStore

/// A reader that follows `next` receives each GIF once, in the order of its first occurrence at Giphy.
struct GifListModelTests {
    /// A simulated Giphy: pages overlap because the order changes between requests.
    private struct Giphy {
        let pages: [[Gif]]

        init(using generator: inout SeededRandom) {
            let all = gifs(0..<Int.random(in: 0...90, using: &generator)).shuffled(using: &generator)
            var pages: [[Gif]] = []
            var rest = all[...]
            while !rest.isEmpty {
                var page = Array(rest.prefix(Int.random(in: 0...12, using: &generator)))
                rest = rest.dropFirst(page.count)
                let doubles = Int.random(in: 0...4, using: &generator)
                page += (pages.joined() + page).shuffled(using: &generator).prefix(doubles)
                pages.append(page.shuffled(using: &generator))
            }
            self.pages = pages
        }

        /// Returns the page for an offset. Each page advances the offset by 10.
        func answer(at offset: Int) -> (gifs: [Gif], next: Int?) {
            let number = offset / 10
            guard number < pages.count else { return ([], nil) }
            return (pages[number], number + 1 < pages.count ? offset + 10 : nil)
        }

        var ids: [String] {
            var seen: Set<String> = []
            var ids: [String] = []
            for (number, page) in pages.enumerated() {
                let new = page.map(\.id).filter { seen.insert($0).inserted }
                // The store requests no page after a page without new GIFs.
                if number > 0, new.isEmpty { break }
                ids += new
            }
            return ids
        }
    }

    private struct Reader {
        let list: GifList
        let giphy: Giphy
        var ids: [String] = []
        var cursor: String?
        var isDone = false

        mutating func step(_ store: GifStore, limit: Int) async throws {
            guard
                let page = try await store.page(of: list, PageRequest(limit: limit, cursor: cursor), notBefore: .start)
            else {
                return try await ask(at: 0, store)
            }
            #expect(page.items.count <= limit)
            ids += page.items.map(\.id)
            cursor = page.next
            if let offset = page.needsUpstream {
                #expect(page.items.isEmpty)
                try await ask(at: offset, store)
            } else {
                isDone = page.next == nil
            }
        }

        private func ask(at offset: Int, _ store: GifStore) async throws {
            let answer = giphy.answer(at: offset)
            try await store.put(
                answer.gifs, in: list, offset: offset, nextOffset: answer.next, totalCount: nil, at: .start)
        }
    }

    @Test(arguments: 0..<10) func everyGifComesOnce(seed: Int) async throws {
        var generator = SeededRandom(seed: UInt64(seed))
        let store = try await GifStore.new()
        // Two lists of the same GIFs, with two readers each.
        let lists = [GifList.search("a", rating: "g"), .trending(rating: "g")]
        let readers = lists.map { Reader(list: $0, giphy: Giphy(using: &generator)) }
        var all = readers + readers
        // Stores the first pages, because a cursor exists only after them.
        for reader in readers {
            let answer = reader.giphy.answer(at: 0)
            try await store.put(
                answer.gifs, in: reader.list, offset: 0, nextOffset: answer.next, totalCount: nil, at: .start)
        }
        while let index = all.indices.filter({ !all[$0].isDone }).randomElement(using: &generator) {
            try await all[index].step(store, limit: Int.random(in: 1...15, using: &generator))
        }
        for reader in all {
            #expect(reader.ids == reader.giphy.ids)
            let page = try await store.page(of: reader.list, PageRequest(limit: 1), notBefore: .start)
            #expect(page?.total == reader.ids.count)
        }
    }
}
