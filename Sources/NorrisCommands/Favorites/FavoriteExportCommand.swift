import NorrisArguments
import NorrisProtocol
import NorrisTerminal
import NorrisText

struct FavoriteExportCommand: SessionCommand {
    static let name = "export"
    static let help = CommandHelp(
        "Print all favorites as JSON, one item a line.",
        """
        Facts and posts come with their content, GIFs with id and title only. The time limit is 10 minutes; see
        --timeout.

        Examples:
          norrisctl favorite export > favorites.ndjson
          norrisctl favorite export | ssh other norrisctl favorite import
        """)

    /// The most favorites that the daemon returns in one reply.
    private static let pageLimit = 100
    static let hasFields = false

    func run(in session: Session) throws(Failure) -> Report {
        let session = session.with(defaultTimeout: .long)
        var written = 0
        var cursor: String?
        repeat {
            let page: Reply<FavoriteList.Result>
            do throws(Failure) {
                page = try session.call(
                    FavoriteList.self, FavoriteList.Parameters(page: PageRequest(limit: Self.pageLimit, cursor: cursor))
                )
            } catch {
                var failure = error
                if written > 0 {
                    let count = countText(written, "item")
                    failure.steps.append("The export is incomplete: it ends after \(value: count).")
                }
                throw failure
            }
            guard try session.write(Self.lines(of: page.json.tree)) else { return Report() }
            written += page.value.items.count
            cursor = page.value.next
        } while cursor != nil
        return Report()
    }

    /// Returns the items with all members that a newer daemon may send, but without GIF URLs, which expire.
    private static func lines(of page: JSON) -> [UInt8] {
        guard case .object(let page) = page, case .array(let items)? = page["items"] else { return [] }
        var json = JSONWriter()
        for case .object(var item) in items {
            item["gif"] = nil
            json.value(item)
            json.newline()
        }
        return json.bytes
    }
}
