import NorrisProtocol
import Testing

@testable import NorrisStore

struct ReadMarksTests {
    private let fixture = StoreFixture()

    private func withMarks(_ body: (ReadMarks, PostStore, Databases) async throws -> Void) async throws {
        let databases = try await fixture.databases()
        try await body(ReadMarks(databases: databases), await PostStore(databases: databases), databases)
        await databases.close()
    }

    private func markAll(_ marks: ReadMarks, _ posts: PostStore, _ sources: [String] = ["a"]) async throws {
        try await marks.markAll(uid: 1, posts.unread(sources: sources, read: await marks.read(uid: 1)))
    }

    private func readIDs(_ marks: ReadMarks, _ posts: PostStore) async throws -> [String] {
        try await posts.page(read: await marks.read(uid: 1)).items.filter(\.isRead).map(\.id)
    }

    @Test func marksAreCountedOnce() async throws {
        try await withMarks { marks, _, _ async throws in
            #expect(try await marks.mark(uid: 1, [.sample("a:1"), .sample("a:2")], isRead: true) == 2)
            #expect(try await marks.mark(uid: 1, [.sample("a:2"), .sample("a:3")], isRead: true) == 1)
            let read = await marks.read(uid: 1)
            #expect(["a:1", "a:3", "a:4"].map { read.contains(.sample($0)) } == [true, true, false])
            #expect(try await marks.mark(uid: 1, [.sample("a:1"), .sample("a:4")], isRead: false) == 1)
            #expect(await !marks.read(uid: 1).contains(.sample("a:1")))
            // Users have their own marks.
            try await marks.markAll(uid: 1, .sample(["a"], until: 5))
            #expect(await !marks.read(uid: .max).contains(.sample("a:2")))
            #expect(try await marks.mark(uid: .max, [.sample("a:2")], isRead: true) == 1)
            #expect(await marks.read(uid: .max).contains(.sample("a:2")))
        }
    }

    @Test func aPostStoredAfterAllWereMarkedIsUnread() async throws {
        try await withMarks { marks, posts, databases async throws in
            try await posts.fetch([.sample("a:1", at: 3), .sample("a:2")], at: 10)
            try await markAll(marks, posts)
            // One mark of the whole source.
            #expect(try await databases.state.count("read_marks") == 0)
            #expect(try await Set(readIDs(marks, posts)) == ["a:1", "a:2"])
            // Also with an old date.
            try await posts.fetch([.sample("a:1", at: 3), .sample("a:3", at: 1)], at: 20)
            #expect(try await Set(readIDs(marks, posts)) == ["a:1", "a:2"])
            let read = await marks.read(uid: 1)
            #expect(try await posts.listed(.unread, read: read) == ["a:3"])
            #expect(try await posts.unread(sources: ["a", "b"], read: read).counts == ["a": 1])
            #expect(await posts.isRead(["a:1", "a:3", "a:9"], read) == [true, false, false])
        }
    }

    @Test("Posts stay read when their source is cleared and fetched again", arguments: [true, false])
    func readPostsStayRead(isMarkedAlone: Bool) async throws {
        try await withMarks { marks, posts, _ async throws in
            let both: [Post] = [.sample("a:dated", at: 5), .sample("a:undated")]
            try await posts.fetch(both, at: 10)
            if isMarkedAlone {
                let stored = try await posts.stored(both.map(\.id), sources: ["a"])
                #expect(try await marks.mark(uid: 1, stored, isRead: true) == 2)
            } else {
                try await markAll(marks, posts)
            }
            // The time of another user, before which the post without a date counts as seen.
            try await marks.markAll(uid: 2, .sample(["a"], until: 7))
            try await posts.clear(source: "a")
            try await posts.fetch(both + [.sample("a:new", at: 25)], at: 30)
            #expect(try await Set(readIDs(marks, posts)) == ["a:dated", "a:undated"])
            // The source is no longer empty, so an old date does not count.
            try await posts.fetch(both + [.sample("a:old", at: 6)], at: 40)
            #expect(try await Set(readIDs(marks, posts)) == ["a:dated", "a:undated"])
        }
    }

    @Test func aPostMarkedAsUnreadIsListedAndCountedUntilAllAreMarked() async throws {
        try await withMarks { marks, posts, _ async throws in
            let all: [Post] = [.sample("a:1", at: 3), .sample("a:2", at: 2), .sample("a:3", at: 1)]
            try await posts.fetch(all, at: 10)
            try await markAll(marks, posts)
            #expect(try await marks.mark(uid: 1, posts.stored(["a:2"], sources: ["a"]), isRead: false) == 1)
            // Also after the source is cleared and fetched again.
            for isCleared in [false, true] {
                if isCleared {
                    try await posts.clear(source: "a")
                    try await posts.fetch(all, at: 20)
                }
                let read = await marks.read(uid: 1)
                #expect(try await posts.listed(.unread, read: read) == ["a:2"])
                #expect(try await posts.unread(sources: ["a", "b"], read: read).counts == ["a": 1])
                #expect(await posts.isRead(["a:1", "a:2"], read) == [true, false])
            }
            try await markAll(marks, posts)
            #expect(try await readIDs(marks, posts) == ["a:1", "a:2", "a:3"])
        }
    }

    @Test func aClockThatIsSetBackHidesNoPost() async throws {
        try await withMarks { marks, posts, _ async throws in
            try await posts.fetch([.sample("a:1")], at: 1_000)
            try await markAll(marks, posts)
            try await posts.fetch([.sample("a:1"), .sample("a:2")], at: 50)
            #expect(try await readIDs(marks, posts) == ["a:1"])
        }
    }

    @Test func oneSourceIsMarkedAlone() async throws {
        try await withMarks { marks, posts, _ async throws in
            try await posts.fetch([.sample("a:1")], at: 10)
            try await posts.fetch([.sample("b:1", source: "b")], source: "b", at: 10)
            try await markAll(marks, posts)
            let unread = try await posts.unread(sources: ["a", "b"], read: await marks.read(uid: 1))
            #expect(unread.counts == ["b": 1])
            // A source without posts is not marked, because its first posts would be read.
            try await markAll(marks, posts, ["a", "c"])
            try await posts.fetch([.sample("c:1", at: 9, source: "c")], source: "c", at: 20)
            #expect(try await posts.unread(sources: ["c"], read: await marks.read(uid: 1)).counts == ["c": 1])
        }
    }

    // MARK: The first fetch

    private static let ofFirstDay: [Post] = [
        .sample("a:1", at: 9), .sample("a:2", at: 8), .sample("a:3", at: 8), .sample("a:4", at: 2),
        .sample("a:5", at: 1),
    ]

    @Test(
        "After the first fetch only the newest posts are unread, for each user",
        arguments: [(0, 0), (1, 1), (2, 2), (4, 4), (5, 5), (2000, 5)])
    func theFirstDay(unread: Int, expected: Int) async throws {
        try await withMarks { marks, posts, databases async throws in
            try await posts.fetch(Self.ofFirstDay, unread: unread, at: 10)
            for uid: UInt32 in [1, 70_000] {
                let ids = try await posts.listed(.unread, read: await marks.read(uid: uid))
                #expect(ids == Self.ofFirstDay.prefix(expected).map(\.id), "\(uid)")
            }
            // One mark of the whole source.
            #expect(try await databases.state.count("read_marks") == 0)
            #expect(try await databases.state.count("read_until") == 1)
            // Later posts are unread whatever their date, and a deleted cache raises and hides nothing.
            try await posts.fetch([.sample("a:6", at: 1)] + Self.ofFirstDay, unread: unread, at: 20)
            let before = try await posts.listed(.unread, read: await marks.read(uid: 1))
            #expect(before.count == expected + 1)
            try await posts.clear(source: "a")
            try await posts.fetch(Self.ofFirstDay, unread: unread, at: 30)
            let after = try await posts.listed(.unread, read: await marks.read(uid: 1))
            #expect(Set(after).isSubset(of: before) && after.count <= expected)
            if unread == 4 { #expect(after.count == 4) }
        }
    }

    @Test func postsWithoutDatesAreDividedByTheirOrder() async throws {
        try await withMarks { marks, posts, _ async throws in
            let all: [Post] = [.sample("a:1"), .sample("a:2"), .sample("a:3")]
            try await posts.fetch(all, unread: 2, at: 10)
            #expect(try await posts.listed(.unread, read: await marks.read(uid: 1)) == ["a:1", "a:2"])
            #expect(try await posts.listed() == ["a:1", "a:2", "a:3"])
        }
    }

    @Test func aSourceThatComesBackRaisesNothing() async throws {
        try await withMarks { marks, posts, databases async throws in
            let added = AddedSources(databases: databases)
            try await added.prepare("a", identity: "i")
            try await posts.fetch(Self.ofFirstDay, unread: 1, at: 10)
            for unread in [5, 5] {
                try await added.remove("a", identity: "i")
                try await posts.clear(source: "a")
                try await added.prepare("a", identity: "i")
                try await posts.fetch(Self.ofFirstDay, unread: unread, at: 20)
                #expect(try await posts.listed(.unread, read: await marks.read(uid: 1)) == ["a:1"])
            }
            // Fewer posts may be unread, and those that came meanwhile are read too.
            try await added.remove("a", identity: "i")
            try await posts.clear(source: "a")
            try await added.prepare("a", identity: "i")
            try await posts.fetch([.sample("a:9", at: 25)] + Self.ofFirstDay, unread: 1, at: 30)
            #expect(try await posts.listed(.unread, read: await marks.read(uid: 1)) == ["a:9"])
        }
    }

    // MARK: Older posts, and undoing

    private func markOlder(_ marks: ReadMarks, _ posts: PostStore, than time: Int64) async throws -> Int {
        let before = Timestamp(seconds: time)
        let unread = try await posts.unread(sources: ["a"], read: await marks.read(uid: 1), before: before)
        if unread.count > 0 { try await marks.markAll(uid: 1, unread) }
        return unread.count
    }

    @Test func olderPostsAreMarkedByOneMark() async throws {
        try await withMarks { marks, posts, databases async throws in
            try await posts.fetch(Self.ofFirstDay, at: 10)
            _ = try await marks.mark(uid: 1, posts.stored(["a:5"], sources: ["a"]), isRead: true)
            #expect(try await markOlder(marks, posts, than: 8) == 1)
            #expect(try await Set(readIDs(marks, posts)) == ["a:4", "a:5"])
            #expect(try await databases.state.count("read_marks") == 1)
            // Fetched late, dated in the future, and marked as unread.
            try await posts.fetch([.sample("a:late", at: 3), .sample("a:future", at: 90)] + Self.ofFirstDay, at: 50)
            try await posts.fetch([.sample("a:future", at: 90)] + Self.ofFirstDay, at: 95)
            _ = try await marks.mark(uid: 1, posts.stored(["a:4"], sources: ["a"]), isRead: false)
            #expect(try await markOlder(marks, posts, than: 60) == 5)
            #expect(try await posts.listed(.unread, read: await marks.read(uid: 1)) == ["a:future"])
            #expect(try await markOlder(marks, posts, than: 60) == 0)
            // A time in the future marks nothing that arrives later, and changes no order.
            #expect(try await markOlder(marks, posts, than: 1_000) == 1)
            try await posts.fetch([.sample("a:later")] + Self.ofFirstDay, at: 110)
            try await posts.fetch([.sample("a:newest", at: 120)] + Self.ofFirstDay, at: 130)
            #expect(try await posts.listed(.unread, read: await marks.read(uid: 1)) == ["a:newest", "a:later"])
        }
    }

    @Test func theLastMarkIsUndoneOnce() async throws {
        try await withMarks { marks, posts, databases async throws in
            try await posts.fetch(Self.ofFirstDay, at: 10)
            func unread() async throws -> [String] { try await posts.listed(.unread, read: await marks.read(uid: 1)) }
            _ = try await marks.mark(uid: 1, posts.stored(["a:1"], sources: ["a"]), isRead: true)
            _ = try await marks.mark(uid: 1, posts.stored(["a:2", "a:1"], sources: ["a"]), isRead: true)
            try await marks.undo(uid: 1)
            #expect(try await unread() == ["a:2", "a:3", "a:4", "a:5"])
            // Only once, and another user's mark stays.
            _ = try await marks.mark(uid: 2, posts.stored(["a:3"], sources: ["a"]), isRead: true)
            try await marks.undo(uid: 1)
            #expect(try await unread() == ["a:2", "a:3", "a:4", "a:5"])
            #expect(await marks.read(uid: 2).marks.count == 1)
            // With the marks and the watermark that a mark of all has replaced.
            #expect(try await markOlder(marks, posts, than: 2) == 1)
            _ = try await marks.mark(uid: 1, posts.stored(["a:5"], sources: ["a"]), isRead: false)
            let before = try await unread()
            try await markAll(marks, posts)
            #expect(try await unread() == [])
            try await marks.undo(uid: 1)
            #expect(try await unread() == before)
            #expect(before == ["a:2", "a:3", "a:4", "a:5"])
            #expect(try await markOlder(marks, posts, than: 8) == 2)
            try await marks.undo(uid: 1)
            #expect(try await unread() == before)
            #expect(try await databases.state.count("read_undo") == 1)
        }
    }

    @Test func theOldestMarksAreForgotten() async throws {
        try await withMarks { marks, _, _ async throws in
            let many = (1...ReadMarks.maximumPosts).map { StoredPost.sample("a:\($0)") }
            #expect(try await marks.mark(uid: 1, many, isRead: true) == ReadMarks.maximumPosts)
            #expect(try await marks.mark(uid: 2, [.sample("a:1")], isRead: true) == 1)
            #expect(try await marks.mark(uid: 1, [.sample("a:x"), .sample("a:y")], isRead: true) == 2)
            let read = await marks.read(uid: 1)
            let ids = ["a:1", "a:2", "a:3", "a:x", "a:y"]
            #expect(ids.map { read.contains(.sample($0)) } == [false, false, true, true, true])
            #expect(read.marks.count == ReadMarks.maximumPosts)
            #expect(await marks.read(uid: 2).contains(.sample("a:1")))
            // A changed mark takes no other's place.
            #expect(try await marks.mark(uid: 1, [.sample("a:5")], isRead: false) == 1)
            #expect(await marks.read(uid: 1).contains(.sample("a:3")))
        }
    }
}
