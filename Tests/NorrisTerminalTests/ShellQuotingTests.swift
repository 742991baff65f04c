import NorrisTerminal
import NorrisTestSupport
import Testing

struct ShellQuotingTests {
    @Test(arguments: [
        ("dev", "dev"), ("--page", "--page"), ("/run/norrisd.sock", "/run/norrisd.sock"), ("", "''"),
        ("chuck norris", "'chuck norris'"), ("don't", "'don'\\''t'"), ("$HOME", "'$HOME'"), ("~", "'~'"),
        ("=ls", "'=ls'"), ("é", "'é'"),
    ])
    func quotesOnlyWhatNeedsIt(word: String, quoted: String) {
        #expect(shellQuoted(word) == quoted)
    }

    @Test(arguments: [
        "plain", "", " ", "'", "''", "\"", "\\", "a'b'c", "`id`", "$(id)", "${HOME}", "*", "?", "[a]", "{a,b}", "!!",
        "a;b", "a&b", "a|b", "<a>", "#a", "~root", "%1", "=a", "-n", "日本語 '👍'", "e\u{301}'\u{301}x",
    ])
    func givesAShellTheSameBytes(word: String) throws {
        #expect(try run("sh", ["-c", "printf %s \(shellQuoted(word))"]).output == word)
    }

    @Test func joinsWordsToACommand() {
        #expect(shellCommand(["norrisctl", "search", "two words"]) == "norrisctl search 'two words'")
    }

    @Test(arguments: ["\u{1B}[2J", "a\nb", "a\tb", "\u{202E}", "\u{9B}"])
    func showsNoCommandThatWouldNotBeTheOneMeant(word: String) {
        #expect(shellCommand(["search", word]) == nil)
    }
}
