// Code that must not compile, because types make each fault impossible. Scripts/check-refused compares the compiler's
// errors with the comments. A function without a comment shows the form that compiles.

import NorrisThreads
@testable import NorrisStore
@testable import NorrisUpstream

// MARK: Blocking database calls outside a background thread

let count = "SELECT count(*) FROM posts"

// expected-note@+1 {{add 'async'}}
func blockingReadWithoutAccess(_ databases: Databases) throws {
    // expected-error@+1 {{'async' call in a function that does not support concurrency}}
    _ = try databases.read(.posts) { try Int.fetchOne($0, count) }
}

// expected-note@+1 {{add 'async'}}
func blockingWriteWithoutAccess(_ databases: Databases) throws {
    // expected-error@+1 {{'async' call in a function that does not support concurrency}}
    try databases.write(.posts) { try $0.execute("DELETE FROM posts") }
}

func accessOfOnesOwn() {
    _ = BlockingAccess()  // expected-error {{initializer is inaccessible}}
}

func accessOnAnotherThread(_ access: BlockingAccess) -> @Sendable () -> Void {
    { _ = access }  // expected-error {{capture of 'access' with non-Sendable type}}
}

func accessThatIsKept() async -> BlockingAccess {
    await BackgroundThreads.background.run { $0 }  // expected-error {{to 'Sendable' is unavailable}}
}

func blockingReadInBackground(_ databases: Databases) async throws {
    try await BackgroundThreads.background.run { access in
        _ = try databases.read(.posts, access) { try Int.fetchOne($0, count) }
    }
}

// MARK: Database integers without a range

func integerWithoutRange(_ database: Database) throws -> Int64? {
    try Int64.fetchOne(database, count)  // expected-error {{type 'Int64' has no member 'fetchOne'}}
}

func columnWithoutRange(_ row: Rows) -> Int64? {
    Int64.read(row, 0)  // expected-error {{type 'Int64' has no member 'read'}}
}

func integerWithRange(_ database: Database) throws -> UserID? { try UserID.fetchOne(database, count) }

// MARK: Document texts without a limit

func textWithoutLimit(_ item: XMLElement) -> String {
    item.text  // expected-error {{cannot convert}}
}

func attributeWithoutLimit(_ item: XMLElement) -> String? {
    item["href"]  // expected-error {{missing argument}}
}

func memberWithoutLimit(_ item: JSONItem) -> String? {
    item.text("title")  // expected-error {{missing argument}}
}

func memberOfTheTree(_ item: JSONItem) -> String? {
    item.object["title"]  // expected-error {{has no subscripts}}
}

func textWithLimit(_ item: XMLElement) -> String { item.text(.line) }
func attributeWithLimit(_ item: XMLElement) -> String? { item["href", .url] }
func memberWithLimit(_ item: JSONItem) -> String? { item.text("title", .line) }
