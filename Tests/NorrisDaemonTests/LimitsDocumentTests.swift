import Foundation
import NorrisSystem
import NorrisText
import Testing

@testable import NorrisClient
@testable import NorrisCommands
@testable import NorrisDaemon
@testable import NorrisFetch
@testable import NorrisFetchProtocol
@testable import NorrisPrefetch
@testable import NorrisProtocol
@testable import NorrisServer
@testable import NorrisStore

/// The limits and defaults that documents name have the values of the program.
struct LimitsDocumentTests {
    private typealias Limit = NorrisServer.Limit

    /// The parts of sentences with a number of each document, one a line. A part without a value is no limit of the
    /// program.
    private static let parts: [(document: String, parts: String)] = [
        (
            "PROTOCOL.md",
            """
            Version \(ServerInfo.protocolVersion):
            `protocol` in `server.info` is not \(ServerInfo.protocolVersion),
            A path has at most \(SocketPath.maximumBytes) bytes.
            A request line has at most \(grouped(LineSplitter.maximumRequest)) bytes without
            Reply lines have up to \(mebibytes(NorrisClient.Connection.maximumReply)).
            at most \(JSON.maximumDepth) open brackets and
            integers within ±2^\(JSON.maximumInteger.trailingZeroBitCount).
            an array of 1 to \(Limit.batch) requests.
            do not fit into \(mebibytes(Limit.reply)) are replaced
            cut to \(String.longestQuotation) characters, unless
            | connections | \(limits.connections), the last \(Limit.reserved) for administrators
            | connections of a user | \(limits.connectionsPerUser), except administrators
            the disk | \(Limit.workPerUser) of a user (\(Limit.diskWorkBesideOthers) while others wait), \
            \(Limit.work) in all |
            a network | \(Limit.workPerUser) of a user, \(Limit.work) in all |
            | unread replies | \(mebibytes(Limit.reply)) of a connection, \(mebibytes(tuning.replies)) in all; \
            \(seconds(tuning.stallTimeout)) | later requests wait; past \(mebibytes(tuning.replies)) or \
            \(seconds(tuning.stallTimeout)) the
            | unanswered input | \(mebibytes(tuning.input)) of a user,
            | silence | \(minutes(tuning.idleTimeout)), except
            | a search in the cache | \(seconds(Databases.searchLimit)) |
            GIFs up to \(seconds(search)),
            Giphy is asked for at most \(seconds(search));
            others after \(seconds(tuning.drainTime)), and
            those that wait for a network after \(seconds(search)).
            who are no administrators once in \(SourceRefresh.pause) minutes.
            `[a-z0-9_-]{1,\(Fact.maximumNameLength)}`
            only the beginning, \(grouped(Post.Limit.text)) code points.
            is older than \(stale) refresh intervals,
            be refreshed for \(stale) intervals
            `total` is exact up to \(grouped(countedMatches)),
            A page ends early at \(mebibytes(maximumPageBytes)).
            of each kind for the user, at most \(NumberedLists.maximumItems),
            `query` has 1 to \(SearchQuery.maximumWords) words and at most \(grouped(SearchQuery.maximumLength)) \
            characters.
            The words to search for, at most \(SearchQuery.maximumWords).
            A user has \(ShuffleBook.maximumPerUser) shuffles, all users \(grouped(ShuffleBook.maximum));
            and stored for the last \(grouped(FactsOfTheDay.maximum)) days;
            and for \(seconds(SourceSchedule.searchPause)) after a failure.
            or of more than \(GifSearch.longestUpstreamQuery) characters,
            texts of at most \(GifSearch.longestUpstreamQuery) characters are
            a user has \(grouped(ReadMarks.maximumPosts)); the oldest
            at most \(grouped(FavoriteList.maximum)) favorites and \(mebibytes(FavoriteList.maximumBytes)) of them, \
            all users \(mebibytes(Favorites.maximumBytesInAll)),
            data of users takes at most \(mebibytes(UserState.maximumBytes));
            the user's last \(RecentList.maximum) distinct searches
            more than \(grouped(AddedSources.maximum)) sources are
            With `article`, up to \(PostSource.articlesAtOnce) new posts
            beyond \(PostSource.articlesAtOnce) waiting ones
            at most \(MuteAdd.maximum) rules, all users \(grouped(Mutes.maximumInAll)) (
            the id and title (else beginning) of the newest \(Event.Items.maximumNew) |
            """
        ),
        (
            "Scripts/man/norrisd-protocol.7",
            """
            at most \(grouped(LineSplitter.maximumRequest)) bytes; a reply line has up to \
            \(mebibytes(NorrisClient.Connection.maximumReply)).
            """
        ),
        (
            "Scripts/man/norrisd.8",
            """
            done after \(number(tuning.drainTime)) seconds are closed
            wait for a network, after \(number(tuning.networkDrainTime)) seconds.
            a copy made every \(MaintenanceService.copyInterval) minutes after
            \(PromptFactsWriter.count) facts of at most \(PromptFactsWriter.columns) columns, rewritten every \
            \(MaintenanceService.promptFactsInterval) minutes.
            for \(stale) times its interval,
            """
        ),
        (
            "Scripts/man/norrisctl.1",
            """
            rewrites them every \(MaintenanceService.promptFactsInterval) minutes;
            The newest \(PageFolder.kept) pages of
            """
        ),
        (
            "Scripts/man/norrisd.conf.5",
            """
            with those they are at most \(grouped(AddedSources.maximum)).
            The last \(Limit.reserved) of .Cm limits.connections
            1 to \(Fact.maximumNameLength) characters of a-z,
            as a whole after \(number(FetchProcess.longestProgram)) seconds,
            interval under \(minutes(ConfigurationKind<Duration>.shortestQuietRefresh)).
            """
        ),
        (
            "Scripts/man/norris-fetch.1",
            """
            posts, at most \(grouped(PostBatchBuilder.maximumPosts)),
            \(FetchRequest.processorTime) seconds of CPU time and \(Sandbox.addressSpace >> 20) MiB of address space,
            and \(number(FetchProcess.grace)) seconds.
            """
        ),
        (
            "SECURITY.md",
            """
            \(FetchRequest.processorTime) s of CPU time
            by at most 50 ms if
            and 250 ms if
            """
        ),
        (
            "README.md",
            """
            | every \(number(defaults.facts.refresh / 3600)) hours |
            only with a key: every \(number(defaults.gifs.refresh / 3600)) hours, and when
            GIF queries of at most \(GifSearch.longestUpstreamQuery) characters,
            | every \(minutes(defaults.posts.refresh)) |
            The first build takes 3 to 10 minutes
            """
        ),
    ]

    private static let limits = Server.Limits()
    private static let tuning = Server.Tuning.standard
    private static let defaults = Configuration()
    private static let search = tuning.networkDrainTime
    private static let stale = number(SourcePolicy(isEnabled: true, refresh: .seconds(1), settings: "").staleAfter)

    private static func grouped(_ number: Int) -> String { groupedDigits(number) }
    private static func mebibytes(_ bytes: Int) -> String { "\(bytes >> 20) MiB" }
    private static func number(_ duration: Duration) -> String { String(format: "%g", duration / .seconds(1)) }
    private static func seconds(_ duration: Duration) -> String { number(duration) + " s" }
    private static func minutes(_ duration: Duration) -> String { number(duration / 60) + " minutes" }

    @Test(arguments: parts) func documentNamesTheValuesOfTheProgram(document: String, parts: String) throws {
        let file = URL(filePath: #filePath).appending(path: "../../../\(document)").standardized
        var text = try String(contentsOf: file, encoding: .utf8)
            .replacing(#/(?s)\n```.*?\n```|\n\.Bd .*?\n\.Ed/#, with: "")
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for part in parts.split(separator: "\n") {
            #expect(text.contains(part), "\(document) does not say: \(part)")
            text = text.replacing(part, with: "…")
        }
        let units =
            #/
            (?:\d[\d.,]*|\b(?:two|three|four|five|six|seven|eight|nine|ten|sixteen|hundred|thousand))\s
            (?:[KMG]iB|bytes?|m?s|seconds?|minutes?|hours?|days|characters?|columns|code\spoints|words|open\sbrackets
            |connections|requests|lines|intervals|sources|posts|facts|favorites|shuffles|searches|pages|of\sa\suser
            |in\sall)\b
            /#
        let others = text.matches(of: units).map { String($0.output) }
        #expect(others == [], "Add these numbers of \(document) to the parts, or remove them.")
        // Each number in the table of limits.
        let table = text.firstRange(of: "## Limits ").map { text[$0.upperBound...].prefix { $0 != "#" } } ?? ""
        let numbers = table.matches(of: #/\s\d+/#).map { String($0.output) }
        #expect(numbers == [], "Add these numbers of the table of limits to the parts.")
    }
}
