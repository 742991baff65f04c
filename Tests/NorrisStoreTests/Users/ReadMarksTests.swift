import NorrisProtocol
import Testing

@testable import NorrisStore

struct ReadMarksTests {
    private let fixture = StoreFixture()

    private func withMarks(_ body: (ReadMarks, Databases) async throws -> Void) async throws {
        let databases = try fixture.databases()
        try await body(ReadMarks(databases: databases), databases)
        databases.close()
    }

    @Test func marksAreCountedOnce() async throws {
        try await withMarks { marks, _ async throws in
            #expect(try await marks.mark(uid: 1, []) == 0)
            #expect(try await marks.mark(uid: 1, [.sample("a:1"), .sample("a:2")]) == 2)
            #expect(try await marks.mark(uid: 1, [.sample("a:2"), .sample("a:3")]) == 1)
            let read = await marks.read(uid: 1)
            let ids = ["a:1", "a:2", "a:3", "a:4"]
            #expect(ids.map { read.contains(.sample($0)) } == [true, true, true, false])
            #expect(try await marks.mark(uid: 1, [.sample("a:3"), .sample("a:4")]) == 1)
            #expect(await marks.read(uid: 1).contains(.sample("a:4")))
        }
    }

    @Test("Ids are told apart by their bytes") func ids() async throws {
        try await withMarks { marks, _ async throws in
            #expect(try await marks.mark(uid: 1, [.sample("é")]) == 1)
            #expect(await !marks.read(uid: 1).contains(.sample("e\u{301}")))
            #expect(try await marks.mark(uid: 1, [.sample("e\u{301}")]) == 1)
        }
    }

    @Test func usersHaveTheirOwn() async throws {
        try await withMarks { marks, _ async throws in
            _ = await marks.read(uid: 2)
            #expect(try await marks.mark(uid: 1, [.sample("a:1")]) == 1)
            try await marks.markAll(uid: 1, .sample(["a"], upTo: 5))
            #expect(await !marks.read(uid: 2).contains(.sample("a:1")))
            #expect(await !marks.read(uid: .max).contains(.sample("a:1")))
            #expect(try await marks.mark(uid: .max, [.sample("a:1")]) == 1)
            #expect(await marks.read(uid: .max).contains(.sample("a:1")))
            #expect(await !marks.read(uid: 2).contains(.sample("a:1")))
        }
    }

    @Test func aWatermarkIsOfASourceAndATableOfPosts() async throws {
        try await withMarks { marks, databases async throws in
            try await marks.markAll(uid: 1, .sample(["a", "b"], upTo: 5))
            // A late request with a lower number changes nothing.
            try await marks.markAll(uid: 1, .sample(["b"], upTo: 3))
            let read = await marks.read(uid: 1)
            #expect(read.contains(.sample("a:5", number: 5)) && !read.contains(.sample("a:6", number: 6)))
            #expect(read.contains(.sample("b:5", number: 5, source: "b")))
            #expect(!read.contains(.sample("c:1", source: "c")))
            #expect(!read.contains(.sample("a:1", table: 8)), "another cache")
            // A post below the watermark needs no row.
            #expect(try await marks.mark(uid: 1, [.sample("a:1"), .sample("a:9", number: 9)]) == 1)
            #expect(try await databases.state.count("read_marks") == 1)
            #expect(try await databases.state.count("read_watermarks") == 2)
        }
    }

    @Test func aPostStoredAfterAllWereMarkedIsUnread() async throws {
        try await withMarks { marks, databases async throws in
            let posts = PostStore(databases: databases)
            try await posts.fetch([.sample("a:1"), .sample("a:2")], at: 10)
            try await markAll(marks, posts)
            #expect(try await posts.page(read: await marks.read(uid: 1)).items.map(\.isRead) == [true, true])
            // The highest number belonged to a deleted post, and the clock was set back.
            try await posts.fetch([.sample("a:1")], at: 20)
            await #expect(try posts.fetch([.sample("a:1")], at: 300).removed == 1)
            try await posts.fetch([.sample("a:1"), .sample("a:3", at: 1)], at: 5)
            let read = await marks.read(uid: 1)
            #expect(try await posts.page(read: read).items.map(\.id) == ["a:1", "a:3"])
            #expect(try await posts.page(read: read).items.map(\.isRead) == [true, false])
            let unread = PostQuery(sources: ["a"], isUnreadOnly: true)
            #expect(try await posts.page(unread, read: read).items.map(\.id) == ["a:3"])
            #expect(await posts.isRead(["a:1", "a:3", "a:9"], read) == [true, false, false])
            // A recreated cache numbers its posts from the beginning.
            try fixture.folder.remove("cache/cache.db-posts")
            #expect(databases.recreateLostCache())
            try await posts.fetch([.sample("a:4")], at: 30)
            #expect(try await posts.page(read: read).items.map(\.isRead) == [false])
            #expect(try await posts.unread(sources: ["a"], read: read).count == 1)
        }
    }

    private func markAll(_ marks: ReadMarks, _ posts: PostStore) async throws {
        try await marks.markAll(uid: 1, posts.unread(sources: ["a"], read: await marks.read(uid: 1)))
    }

    @Test func aPostIsMarkedAsUnreadAboveAndBelowAWatermark() async throws {
        try await withMarks { marks, databases async throws in
            try await marks.markAll(uid: 1, .sample(["a"], upTo: 5))
            #expect(try await marks.mark(uid: 1, [.sample("a:9", number: 9)]) == 1)
            let posts = [
                MarkedPost.sample("a:1"), .sample("a:2"), .sample("a:8", number: 8), .sample("a:9", number: 9),
            ]
            #expect(try await marks.markUnread(uid: 1, [posts[0], posts[2], posts[3]]) == 2, "a:8 was unread.")
            #expect(posts.map(await marks.read(uid: 1).contains) == [false, true, false, false])
            #expect(try await databases.state.count("read_marks") == 1, "A post above the watermark needs no row.")
            #expect(try await marks.markUnread(uid: 1, [posts[0]]) == 0)
            #expect(await marks.read(uid: 2).contains(posts[1]) == false)
            // Read again, by its id and with all.
            #expect(try await marks.mark(uid: 1, posts) == 3)
            #expect(await marks.read(uid: 1).contains(posts[0]))
            #expect(try await marks.markUnread(uid: 1, posts) == 4)
            try await marks.markAll(uid: 1, .sample(["a"], upTo: 9, exceptions: ["a:1"]), isEverySource: false)
            #expect(
                posts.map(await marks.read(uid: 1).contains) == [true, false, true, true], "a:2 is of another source.")
        }
    }

    @Test func anUnreadPostBelowAWatermarkIsListedAndCounted() async throws {
        try await withMarks { marks, databases async throws in
            let posts = PostStore(databases: databases)
            try await posts.fetch([.sample("a:1", at: 3), .sample("a:2", at: 2), .sample("a:3", at: 1)], at: 10)
            try await markAll(marks, posts)
            _ = try await marks.markUnread(uid: 1, posts.stored(["a:2"], sources: ["a"]))
            try await posts.fetch([.sample("a:4", at: 4)], isComplete: false, at: 20)
            let read = await marks.read(uid: 1)
            #expect(try await posts.page(read: read).items.map(\.isRead) == [false, true, false, true])
            #expect(
                try await posts.listed(PostQuery(sources: ["a"], isUnreadOnly: true), read: read) == ["a:4", "a:2"])
            let unread = try await posts.unread(sources: ["a", "b"], read: read)
            #expect(unread.count == 2 && unread.counts == ["a": 2])
            #expect(await posts.isRead(["a:1", "a:2"], read) == [true, false])
            try await markAll(marks, posts)
            #expect(try await posts.page(read: await marks.read(uid: 1)).items.allSatisfy(\.isRead))
            #expect(try await databases.state.count("read_marks") == 0)
        }
    }

    @Test func oneSourceIsMarkedAlone() async throws {
        try await withMarks { marks, databases async throws in
            let posts = PostStore(databases: databases)
            try await posts.fetch([.sample("a:1")], at: 10)
            try await posts.fetch([.sample("b:1", source: "b")], source: "b", at: 10)
            let both = ["a", "b"]
            #expect(try await posts.unread(sources: both, read: ReadPosts()).counts == ["a": 1, "b": 1])
            let unread = try await posts.unread(sources: ["a"], read: ReadPosts())
            try await marks.markAll(uid: 1, unread, isEverySource: false)
            let read = await marks.read(uid: 1)
            #expect(try await posts.unread(sources: both, read: read).counts == ["b": 1])
        }
    }

    @Test func marksAsUnreadAreBoundedToo() async throws {
        try await withMarks { marks, databases async throws in
            try await marks.markAll(uid: 1, .sample(["a"], upTo: 5))
            let many = (0...ReadMarks.maximumPosts).map { MarkedPost.sample("a:\($0)") }
            #expect(try await marks.markUnread(uid: 1, many) == ReadMarks.maximumPosts + 1)
            let read = await marks.read(uid: 1)
            #expect(read.exceptions.count == ReadMarks.maximumPosts)
            #expect(read.contains(many[0]) && !read.contains(many[1]))
            // A changed mark takes no other's place.
            #expect(try await marks.mark(uid: 1, [many[5]]) == 1)
            #expect(await !marks.read(uid: 1).contains(many[1]))
        }
    }

    @Test func theOldestMarksAreForgotten() async throws {
        try await withMarks { marks, databases async throws in
            let many = (1...ReadMarks.maximumPosts).map { MarkedPost.sample("a:\($0)") }
            #expect(try await marks.mark(uid: 1, many) == ReadMarks.maximumPosts)
            #expect(try await marks.mark(uid: 2, [.sample("a:1")]) == 1)
            #expect(try await marks.mark(uid: 1, [.sample("a:x"), .sample("a:y")]) == 2)
            let read = await marks.read(uid: 1)
            let ids = ["a:1", "a:2", "a:3", "a:x", "a:y"]
            #expect(ids.map { read.contains(.sample($0)) } == [false, false, true, true, true])
            #expect(read.keys.count == ReadMarks.maximumPosts)
            #expect(await marks.read(uid: 2).contains(.sample("a:1")))
        }
    }

    @Test func postThatComesBackAfterClearingIsStillRead() async throws {
        try await withMarks { marks, databases async throws in
            let posts = PostStore(databases: databases)
            try await posts.fetch([.sample("a:1")], at: 10)
            #expect(try await marks.mark(uid: 1, posts.stored(["a:1"], sources: ["a"])) == 1)
            try await posts.clear(source: "a")
            try await posts.fetch([.sample("a:1"), .sample("a:2")], at: 20)
            let read = await marks.read(uid: 1)
            #expect(try await posts.page(read: read).items.map(\.isRead) == [true, false])
        }
    }

    @Test func marksThatCannotBeWrittenAreNone() async throws {
        try await withMarks { marks, databases async throws in
            #expect(try await marks.mark(uid: 1, [.sample("a:1")]) == 1)
            _ = await marks.read(uid: 1)
            try await databases.state.refuseWrites(to: "read_marks")
            let refusal = ResponseError.storage(
                "Favorites and other state cannot be written now.", hint: "See why: norrisctl status")
            await #expect(throws: refusal) { try await marks.mark(uid: 1, [.sample("a:2")]) }
            #expect(await !marks.read(uid: 1).contains(.sample("a:2")))
            #expect(databases.faults.map { $0.hasPrefix("The state takes no writes: ") } == [true])
            try await databases.state.takeWritesAgain()
            // An empty change does not prove that writes succeed.
            #expect(try await marks.mark(uid: 1, []) == 0)
            #expect(databases.isReadOnly)
            #expect(try await marks.mark(uid: 1, [.sample("a:2")]) == 1)
            #expect(databases.faults == [])
        }
    }

    @Test func whereMarksCannotBeReadNothingIsRead() async throws {
        try await withMarks { marks, databases async throws in
            #expect(try await marks.mark(uid: 1, [.sample("a:1")]) == 1)
            try await databases.state.writer.write { try $0.execute("ALTER TABLE read_marks RENAME TO x") }
            #expect(await !marks.read(uid: 1).contains(.sample("a:1")))
            // The failure is not cached.
            try await databases.state.writer.write { try $0.execute("ALTER TABLE x RENAME TO read_marks") }
            #expect(await marks.read(uid: 1).contains(.sample("a:1")))
        }
    }
}
