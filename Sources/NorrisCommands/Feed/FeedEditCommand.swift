import NorrisArguments
import NorrisProtocol
import NorrisTerminal
import NorrisText

struct FeedEditCommand: SessionCommand {
    static let name = "edit"
    static let help = CommandHelp(
        "Change a source that norrisctl feed add has added.",
        """
        norrisd fetches a new address first, and changes nothing if that fails. The name of the source, its posts, and
        all marks and favorites stay. An empty text restores a default, such as --title ''. Sources in the
        configuration are changed there; see norrisctl config path.

        Examples:
          norrisctl feed edit planet --url https://planet.example/atom.xml
          norrisctl feed edit planet --title 'Planet Debian' --refresh 2h
          norrisctl feed edit planet --tag +linux --tag -news
        """)
    static let hasFields = false

    static func correction(of word: String) -> String? {
        let tag = word.hasPrefix("--tag ") ? SourceTag.normalized(String(word.dropFirst(6))) : nil
        return tag.map { "feed edit NAME --tag +\($0)" }
    }

    private var parameters = SourceEdit.Parameters()
    private var tags: [String] = []

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(&parameters.sourceName, .addedSource, "The name of the source.")
        arguments.option(&parameters.url, "url", .address, "The new address.")
        arguments.option(&parameters.settings.title, "title", .text, "The name that users see; '' restores the feed's.")
        arguments.option(&parameters.settings.refresh, "refresh", .interval, "How often to fetch, such as 30m.")
        arguments.option(&parameters.settings.keep, "keep", .interval, "How long to keep posts, such as 30d.")
        arguments.option(
            "tag", .change, "Add a tag with +TAG, remove one with -TAG. Repeatable.",
            takes: "+ or -, and \(SourceTag.rule)", isRepeating: true
        ) { text in
            guard let sign = text.first, "+-".contains(sign),
                let tag = SourceTag.normalized(String(text.dropFirst()))
            else { return false }
            tags.append("\(sign)\(tag)")
            return true
        }
        arguments.option(
            "article", .change, "yes or no: fetch the page of each new post.", choices: ["yes", "no"]
        ) { ["yes", "no"].contains($0) && assign(&parameters.settings.article, $0 == "yes") }
    }

    func validate(_ settings: Settings) throws(UsageError) {
        if tags.isEmpty, parameters == SourceEdit.Parameters(name: parameters.sourceName) {
            throw UsageError("Name a setting to change, such as --title.")
        }
    }

    func run(in session: Session) throws(Failure) -> Report {
        var parameters = parameters
        if !tags.isEmpty {
            let sources = try session.call(PostSources.self).value.items
            var all = sources.first { $0.name == parameters.sourceName }?.tags ?? []
            for change in tags {
                let tag = String(change.dropFirst())
                all.removeAll { $0 == tag }
                if change.hasPrefix("+") { all.append(tag) }
            }
            parameters.settings.tags = all
        }
        let reply = try session.with(defaultTimeout: .fetch).call(SourceEdit.self, parameters)
        return session.report(reply) { $0.line("changed: \(parameters.sourceName)") }
    }
}
