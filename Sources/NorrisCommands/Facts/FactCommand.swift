import NorrisArguments
import NorrisProtocol
import NorrisTerminal

struct FactCommand: SessionCommand {
    static let name = "fact"
    static let aliases = ["random"]
    static let help = CommandHelp(
        "Show facts you have not seen yet.",
        """
        You get every matching fact once before any repeats.

        Examples:
          norrisctl fact
          norrisctl fact --category dev --category science --count 3
          norrisctl fact --max-length 80 --name "Grace Hopper"
          norrisctl fact --today --copy
        """)

    private var categories: [String] = []
    private var count: Int?, maxLength: Int?
    private var name: String?, id: String?
    private var source: FactScope?
    private var isToday = false, allowsExplicit = false, isCopied = false

    /// The summary of `--category` in the help.
    static let categoryHelp = "Only facts of this category. May be repeated."

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.option(&categories, "category", short: "c", .category, Self.categoryHelp)
        arguments.option(&count, "count", short: "n", in: 1...100, "How many facts, 1 to 100.")
        arguments.option(
            &maxLength, "max-length", short: "l", in: 1...10_000, "Only facts of at most this many characters.")
        arguments.option(&name, "name", .name, "Replace Chuck Norris with this name.")
        arguments.factSource(&source)
        arguments.option(&id, "id", .favorite(.fact), "The fact with this id.")
        arguments.flag(&isToday, "today", "The fact of the day, the same for all users.")
        arguments.flag(&allowsExplicit, "explicit", "Include explicit facts.")
        arguments.flag(&isCopied, "copy", "Also copy the fact to the clipboard.")
    }

    func validate(_ settings: Settings) throws(UsageError) {
        let choosesRandom = !categories.isEmpty || count != nil || maxLength != nil || source != nil || allowsExplicit
        if id != nil, isToday || choosesRandom { throw UsageError("--id names one fact: leave out the other options.") }
        if isToday, choosesRandom {
            throw UsageError("--today selects one fact for all users: leave out the other options.")
        }
        if isCopied, count ?? 1 > 1 { throw UsageError("--copy takes one fact: leave out --count.") }
        try settings.refuseJSON(besides: [("--copy", isCopied)])
    }

    func run(in session: Session) throws(Failure) -> Report {
        if isToday, name == nil {
            let reply = try session.call(FactToday.self)
            return report(session, reply, [reply.value.fact], reply.value.freshness)
        }
        if let id = try isToday ? session.call(FactToday.self).value.fact.id : id {
            let reply = try session.call(FactGet.self, FactGet.Parameters(id: id, name: name))
            return report(session, reply, [reply.value.fact], nil)
        }
        let parameters = FactRandom.Parameters(
            categories: categories, count: count, maxLength: maxLength, name: name, allowExplicit: allowsExplicit,
            source: source)
        try session.checkFormat(for: FactRandom.self)
        let reply = try session.call(
            FactRandom.self, parameters, notFound: session.categoryHint(categories, allowsExplicit: allowsExplicit))
        return report(session, reply, reply.value.items, reply.value.freshness)
    }

    private func report<Result: WireValue>(
        _ session: Session, _ reply: Reply<Result>, _ facts: [Fact], _ freshness: Freshness?
    ) -> Report {
        let nothing = "No fact matches. Try another category (norrisctl categories) or a larger --max-length."
        var report = session.report(
            reply, freshness: freshness, source: SourceStatus.facts, nothing: facts.isEmpty ? nothing : nil
        ) { $0.facts(facts) }
        if isCopied, let fact = facts.first {
            report.attempt { () throws(Failure) in try session.copy(fact.text) }
        }
        return report
    }
}

extension Session {
    /// Returns the hint for an unknown or excluded category. Asks the daemon for similar categories.
    func categoryHint(_ categories: [String], allowsExplicit: Bool = false) -> Advice? {
        guard !categories.isEmpty, !settings.json else { return nil }
        if categories.contains("explicit"), !allowsExplicit {
            return "Include explicit facts: norrisctl fact --explicit"
        }
        let known = (try? call(FactCategories.self))?.value.items.map { $0.name } ?? []
        let unknown = categories.first { !known.contains($0) } ?? ""
        let meant = suggestion(of: known, for: unknown) { $0 }.dropFirst()
        return "\(meant)\(meant.isEmpty ? "" : " ")List the categories: norrisctl categories"
    }
}

extension CommandArguments {
    /// Declares `--source` of the commands about facts.
    mutating func factSource(_ value: inout FactScope?) {
        option(
            "source", .factScope,
            "norris (the facts of the upstream and the built-in ones), fortune (fortune files) or all.",
            choices: FactScope.words
        ) { assign(&value, FactScope(rawValue: $0)) }
    }
}
