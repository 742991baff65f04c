// Code that must not compile, because types make each fault impossible. Scripts/test refused compares the compiler's
// errors with the comments. A function without a comment shows the form that compiles.

import NorrisThreads
@testable import NorrisCommands
@testable import NorrisStore

// MARK: Blocking database calls outside a background thread

let count = "SELECT count(*) FROM posts"

// expected-note@+1 {{add 'async'}}
func readThatBlocks(_ databases: Databases) throws {
    // expected-error@+1 {{'async' call in a function that does not support concurrency}}
    _ = try databases.read(databases.cache) { try $0.value(count) as Int? }
}

// expected-note@+1 {{add 'async'}}
func writeThatBlocks(_ databases: Databases) throws {
    // expected-error@+1 {{'async' call in a function that does not support concurrency}}
    try databases.write(databases.cache) { try $0.execute("DELETE FROM posts") }
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

// MARK: Advice without a decision whether a text is a command

func advice(_ text: String) -> Advice { "Try \(command: text), because \(value: text)." }

func adviceOfATextAlone(_ text: String) -> Advice {
    "Try \(text)."  // expected-error {{missing argument label 'command:' in call}}
}
