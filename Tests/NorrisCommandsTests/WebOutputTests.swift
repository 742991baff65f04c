import Foundation
import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

@testable import NorrisCommands

struct WebOutputTests {
    private static let post =
        #"{"id":"p:1","source":"p","author":{"id":"p:a","name":"A"},"title":"T","text":"<b>","tags":[],"images":[],"#
        + #""attachments":[],"stats":{},"read":false}"#
    private static let gif =
        #"{"id":"g","title":"Kick","rating":"g","page_url":"https://giphy.com/g","sticker":false,"renditions":{}}"#
    private static let fact = #"{"id":"f","text":"One & all.","categories":[],"source":"builtin"}"#
    private static let favorite =
        #"{"kind":"fact","id":"f","title":"One & all.","added_at":"2026-11-21T12:00:00Z","fact":\#(fact)}"#

    private static func list(_ items: String..., next: String? = "c") -> String {
        let (items, next) = (items.joined(separator: ","), next.map { #""next":"\#($0)","# } ?? "")
        return #"{"items":[\#(items)],"total":9,\#(next)"freshness":{"origin":"cache","state":"fresh"}}"#
    }

    private static let last = list(post, next: nil)

    private let folder = TemporaryFolder()

    /// A machine with a display and a browser.
    private func machine(_ results: String...) -> Machine { machine(results: results) }

    private func machine(results: [String]) -> Machine {
        let machine = Machine(results: results)
        (machine.environment["DISPLAY"], machine.environment["XDG_RUNTIME_DIR"]) = (":0", folder.path)
        machine.programs = ["xdg-open": [.ended(status: 0)]]
        return machine
    }

    @Test(
        arguments: [
            (["feed"], list(post), "Feed", "norrisctl feed --html --page 2"),
            (["post", "p:1"], #"{"post":\#(post)}"#, "T", nil), (["next"], list(post), "T", nil),
            (["search", "one"], list(fact), "Search: one", "norrisctl search --html --page 2 one"),
            (["search", "one", "--in", "favorites"], list(favorite), "Search: one", nil),
            (["gif", "kick"], list(gif), "GIFs: kick", "norrisctl gif --html --page 2 kick"),
            (["gif", "--id", "g"], #"{"gif":\#(gif)}"#, "GIFs", nil),
            (["favorite", "list"], list(favorite), "Favorites", "norrisctl favorite list --html --page 2"),
        ] as [([String], String, String, String?)])
    func printsAPage(_ words: [String], _ result: String, _ title: String, _ next: String?) {
        let outcome = machine(result, #"{"marked":1}"#).run(words + ["--html"])
        #expect(outcome.output.hasPrefix("<!DOCTYPE html>\n<html"))
        #expect(outcome.output.contains("<title>\(title)</title>"))
        if let next { #expect(outcome.output.contains("Next page: <code>\(next)</code>")) }
        #expect(outcome.output.contains(">Unread<") == (words[0] == "feed"))
        #expect(!outcome.output.contains("<b>") && outcome.errors.isEmpty && outcome.status == .done)
    }

    @Test func withoutItemsThereIsNoPage() {
        let none = #"{"items":[],"freshness":{"origin":"cache","state":"fresh"}}"#
        let outcome = machine(none).run("search", "--html", "-o", "page.html", "one")
        #expect(
            outcome.output.isEmpty && outcome.errors.hasPrefix("norrisctl: No fact contains")
                && outcome.status == .nothing)
    }

    @Test func writesAFile() {
        let machine = machine(Self.list(Self.fact))
        let outcome = machine.run("search", "one", "--html", "-o", "page.html")
        #expect(outcome == Outcome(output: "", errors: "Wrote page.html.\n"))
        #expect(
            machine.written("page.html").map { String(decoding: $0, as: UTF8.self) }?.contains("One &amp; all.")
                == true)
    }

    @Test(arguments: [
        ["--html", "--web"], ["--web", "-o", "f"], ["-o", "f"], ["--web", "--format", "{id}"],
    ])
    func refusesOtherOutput(_ options: [String]) {
        let machine = machine()
        #expect(machine.run(["feed"] + options).status == .usage)
        #expect(machine.requests.isEmpty)
    }

    // MARK: The browser

    private var pages: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder("norrisctl")).sorted() }
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test func opensAPageOfThisUserOnly() throws {
        let old = umask(0)
        defer { umask(old) }
        let machine = machine(Self.last).onTerminal()
        let outcome = machine.run("feed", "--web")
        // No numbers, which a page does not show.
        #expect(machine.parameters == ["{}"])
        let page = folder("norrisctl/" + (try #require(pages.first)))
        #expect(outcome == Outcome(output: "", errors: "Opened \(page)\n"))
        #expect(machine.runs.map(\.arguments) == [[page]])
        #expect(mode(folder("norrisctl")) == 0o700 && mode(page) == 0o600)
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains("<title>Feed</title>"))
    }

    @Test func theNewestSixteenStay() throws {
        #expect(mkdir(folder("norrisctl"), 0o755) == 0)
        for number in 0..<20 { _ = try folder.write("old", to: "norrisctl/10000000\(10 + number)-a.html") }
        _ = try folder.write("mine", to: "norrisctl/note.txt")
        #expect(machine(Self.last).run("feed", "--web").status == .done)
        let pages = try pages
        #expect(pages.count == 17 && pages.last == "note.txt" && pages.first == "1000000015-a.html")
        #expect(mode(folder("norrisctl")) == 0o700)
    }

    @Test("A page stays for its browser, whatever the clock and other pages say")
    func aNewPageStays() throws {
        #expect(mkdir(folder("norrisctl"), 0o700) == 0)
        let ahead = Timestamp.now().seconds + 86_400
        for number in 0..<16 { _ = try folder.write("old", to: "norrisctl/\(ahead + Int64(number))-a.html") }
        for _ in 0..<40 { #expect(machine(Self.last).run("feed", "--web").status == .done) }
        let new = Set(try pages.suffix(40))
        #expect(new.count == 40 && new.allSatisfy { !$0.hasSuffix("-a.html") }, "\(new)")
        // The pages of the last minute go later.
        _ = try folder.write("old", to: "norrisctl/\(ahead + 1_000)-a.html")
        #expect(machine(Self.last).run("feed", "--web").status == .done)
        let rest = try pages
        #expect(rest.count == 16 && new.intersection(rest).count == 14, "\(rest)")
    }

    private func page(_ index: Int) throws -> String {
        try String(contentsOfFile: folder("norrisctl/" + pages[index]), encoding: .utf8)
    }

    @Test func theNextPagesLinkEachOther() throws {
        let machine = machine(Self.list(Self.post), Self.list(Self.post, Self.post), Self.last)
        #expect(machine.run("feed", "--web", "--limit", "5").status == .done)
        #expect(machine.parameters == [#"{"limit":5}"#, #"{"limit":5,"cursor":"c"}"#, #"{"limit":5,"cursor":"c"}"#])
        let names = try pages
        #expect(names.count == 3 && machine.runs.map(\.arguments) == [[folder("norrisctl/" + names[0])]])
        let (previous, next) = ("\">Previous page</a>", "\">Next page</a>")
        #expect(try page(0).contains("<nav aria-label=\"Pages\"><a href=\"\(names[1])\(next)</nav>"))
        #expect(try page(1).contains("<a href=\"\(names[0])\(previous)\u{A0}· <a href=\"\(names[2])\(next)</nav>"))
        #expect(try page(2).contains("<nav aria-label=\"Pages\"><a href=\"\(names[1])\(previous)</nav>"))
        #expect(try page(0).contains(">1–1 of 9 posts<") && page(1).contains(">2–3 of 9 posts<"))
        #expect(try page(2).contains(">4–4 of 9 posts<") && !page(2).contains("<code>"))
    }

    @Test func atMostTenPagesAreWritten() throws {
        let machine = machine(results: Array(repeating: Self.list(Self.post), count: 12))
        #expect(machine.run("feed", "--web").status == .done)
        #expect(try pages.count == 10 && !page(9).contains("Next page"))
    }

    @Test func aPageThatFailsDoesNotCostThePagesBeforeIt() throws {
        let machine = machine(Self.list(Self.post), Self.list(Self.post))
        machine.reply(Machine.reply(ResponseError(.storage, "The disk is full.")))
        #expect(machine.run("feed", "--web").status == .done)
        #expect(try pages.count == 2 && page(1).contains("<code>norrisctl feed --web --page 3</code>"))
    }

    @Test func morePagesOfGifsAreNotFetched() throws {
        let machine = machine(Self.list(Self.gif))
        #expect(machine.run("gif", "kick", "--web").status == .done)
        #expect(try pages.count == 1 && page(0).contains("<code>norrisctl gif --web --page 2 kick</code>"))
    }

    @Test("An empty list has a page that says so", arguments: [["search", "one"], ["favorite", "list"], ["next"]])
    func saysThatNothingIsListed(_ words: [String]) throws {
        let none = #"{"items":[],"freshness":{"origin":"cache","state":"fresh"}}"#
        // The sources are for the next post.
        let status = ServerStatus.Result(
            state: .ok, message: "", uptimeSeconds: 1, connections: 1, requestsTotal: 1, sources: [],
            database: ServerStatus.Database(cacheBytes: 1, stateBytes: 1, isReadOnly: false), version: "1")
        let machine = machine(none, status.jsonText)
        let outcome = machine.run(words + ["--web"])
        #expect(outcome.status == .nothing && outcome.errors.contains("Opened \(folder("norrisctl/"))"))
        let sentence = try #require(outcome.errors.split(separator: "\n").first?.dropFirst("norrisctl: ".count))
        #expect(try page(0).contains("<main><p>\(sentence.replacing("\"", with: "&quot;"))</p></main>"))
    }

    @Test("A page is written nowhere else") func refusesOtherFolders() throws {
        #expect(mkdir(folder("elsewhere"), 0o755) == 0)
        #expect(symlink("elsewhere", folder("norrisctl")) == 0)
        let linked = machine(Self.last).run("feed", "--web")
        #expect(linked.status == .inputOutput && linked.errors.contains("it is not a folder of this user"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("elsewhere")).isEmpty)
        let without = machine(Self.last)
        without.environment["XDG_RUNTIME_DIR"] = nil
        #expect(
            without.run("feed", "--web").errors == """
                norrisctl: There is no XDG_RUNTIME_DIR for the file.
                  Write it to a file: --html -o page.html

                """)
    }
}
