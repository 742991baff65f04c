import NorrisArguments
import NorrisProtocol
import NorrisTerminal
import NorrisText

struct MuteCommand: SessionCommand {
    static let name = "mute"
    static let help = CommandHelp(
        "Hide posts from yourself by their words.", usage: "[options] [--] [<query>...]",
        """
        A rule hides the posts that contain every word, also inside longer words ('" ai "' is a word between spaces),
        from your lists, searches and counts: stored posts, and those that arrive later. Other users still see them.
        Without a query, lists your rules with the number of posts that each hides; norrisctl feed --muted shows the
        posts.

        Tab-separated in a pipe: number, hidden posts, query, source, tag, yes for --except.

        Examples:
          norrisctl mute --test sponsored
          norrisctl mute sponsored
          norrisctl mute --source planet '"release notes"'
          norrisctl mute --source hn --except linux
          norrisctl mute --remove 3
        """)

    private var query: [String] = []
    private var source: String?, tag: String?
    private var isExcept = false, isTest = false
    private var removed: Int?

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(&query, .query, "The words of the posts to hide.", isOptional: true)
        arguments.sources(&source, &tag)
        arguments.flag(&isExcept, "except", "Hide the posts of the source or tag that do not contain the words.")
        arguments.flag(&isTest, "test", "Only count the stored posts that a rule would hide.")
        arguments.option(
            "remove", .number, "Remove the rule with this number.",
            takes: "the number of a rule, which norrisctl mute lists"
        ) { text in
            removed = wholeNumber(text)
            return removed.map { 1...999_999_999 ~= $0 } ?? false
        }
    }

    func validate(_ settings: Settings) throws(UsageError) {
        try refuse(source: source, tag: tag)
        let options = optionWords(("--source", source), ("--tag", tag))
        let flags = flagWords([("--except", isExcept), ("--test", isTest)])
        try refuseCommand()
        if removed != nil, !query.isEmpty || !options.isEmpty || !flags.isEmpty {
            throw UsageError("--remove stands alone: it removes the rule with this number.")
        }
        if query.isEmpty, let option = (options + flags).first {
            throw UsageError("\(option) is for a rule: add the words to hide.")
        }
        if isExcept, options.isEmpty { throw UsageError("--except needs --source or --tag.") }
    }

    /// Refuses what looks like a subcommand. In quotation marks, the words are a rule.
    private func refuseCommand() throws(UsageError) {
        let others = query.dropFirst()
        let meant: String
        switch query.first {
        case "list", "ls": meant = others.isEmpty ? "mute" : ""
        case "remove", "rm", "delete":
            meant = others.count == 1 ? wholeNumber(others[1]).map { "mute --remove \($0)" } ?? "" : ""
        default: return
        }
        guard !meant.isEmpty else { return }
        let phrase = shellQuoted("\"\(query.joined(separator: " "))\"")
        throw UsageError("Did you mean 'norrisctl \(meant)'? A rule for these words: norrisctl mute \(phrase)")
    }

    func run(in session: Session) throws(Failure) -> Report {
        if let removed { return try remove(removed, session) }
        if query.isEmpty { return try list(session) }
        try session.checkFormat(for: MuteAdd.self)
        let parameters = MuteAdd.Parameters(
            query: query.joined(separator: " "), source: source, tag: tag, except: isExcept, test: isTest)
        let reply = try session.call(MuteAdd.self, parameters)
        let posts = countText(reply.value.matching, "stored post")
        return session.report(reply) { screen in
            guard let number = reply.value.number else { return screen.paragraph("would hide \(posts)") }
            let undo: Advice = "Undo: norrisctl mute --remove \(value: number)"
            screen.paragraph("rule \(number) hides \(posts). \(session.text(undo))")
        }
    }

    private func list(_ session: Session) throws(Failure) -> Report {
        let reply = try session.call(MuteList.self)
        let nothing: Advice? = reply.value.items.isEmpty ? "You have no rules. Add one: norrisctl mute WORDS" : nil
        return session.report(reply, nothing: nothing) { screen in
            for rule in reply.value.items {
                let isTerminal = screen.layout.width != nil
                let texts = [rule.query, rule.source, rule.tag, rule.except ? isTerminal ? "except" : "yes" : ""]
                    .map { $0 ?? "" }
                guard isTerminal else {
                    screen.fields((["\(rule.number)", "\(rule.matching)"] + texts).map { Span($0) })
                    continue
                }
                let scope = texts.dropFirst().filter { !$0.isEmpty }.joined(separator: ", ")
                screen.entry(
                    [(Span("\(rule.number)", .dim), 4), (Span(countText(rule.matching, "post"), .bold), 12)],
                    Span(rule.query + (scope.isEmpty ? "" : " (\(scope))")))
            }
        }
    }

    private func remove(_ number: Int, _ session: Session) throws(Failure) -> Report {
        try session.checkFormat(for: MuteRemove.self)
        let reply = try session.call(MuteRemove.self, MuteRemove.Parameters(number: number))
        guard reply.value.removed else {
            throw Failure(.nothing, "You have no rule \(number).", hint: "List your rules: norrisctl mute")
        }
        return session.report(reply) { $0.paragraph("removed \((reply.value.title ?? "").quotedForMessage)") }
    }
}
