import NorrisArguments
import NorrisProtocol
import NorrisTerminal

struct FactCommand: SessionCommand {
    static let name = "fact"
    static let aliases = ["random"]
    static let help = CommandHelp(
        "Show facts, each once before any repeats.",
        """
        With the same options, you get every matching fact once before any repeats; other options have an order of
        their own.

        In a pipe: the text; --format '{id}\\t{text}' adds the id.

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
    static let categoryHelp = "Only facts of this category, or of several: dev,science. May be repeated."

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.categories(&categories)
        arguments.option(&count, "count", short: "n", in: 1...100, "How many facts, 1 to 100.")
        arguments.option(
            &maxLength, "max-length", short: "l", in: 1...Fact.maximumLength,
            "Only facts of at most this many characters.")
        arguments.option(&name, "name", .name, "Replace Chuck Norris with this name.")
        arguments.factSource(&source)
        arguments.option(&id, "id", .favorite(.fact), "The fact with this id.")
        arguments.flag(&isToday, "today", "The fact of the day, the same for all users.")
        arguments.flag(&allowsExplicit, "explicit", "Include explicit facts, as --category explicit does.")
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
            categories: categories, count: count, maxLength: maxLength, name: name,
            allowExplicit: allowsExplicit || categories.contains(Fact.explicitCategory), source: source)
        try session.checkFormat(for: FactRandom.self)
        let reply = try session.call(FactRandom.self, parameters)
        return report(session, reply, reply.value.items, reply.value.freshness)
    }

    private func report<Result: WireValue>(
        _ session: Session, _ reply: Reply<Result>, _ facts: [Fact], _ freshness: Freshness?
    ) -> Report {
        let nothing: Advice =
            source == .fortune
            ? "No fact of a fortune file matches. facts.fortunes names the files in: norrisctl config path"
            : "No fact matches. Try another category (norrisctl categories) or a larger --max-length."
        var report = session.report(
            reply, freshness: source == .fortune ? nil : freshness, source: SourceStatus.facts,
            nothing: facts.isEmpty ? nothing : nil
        ) { $0.facts(facts) }
        if isCopied, let fact = facts.first {
            report.attempt { () throws(Failure) in try session.copy(fact.text) }
        }
        return report
    }
}

extension Session {
    /// Returns the hint for a category that is unknown or hidden. Asks the daemon for similar categories.
    func categoryHint(_ category: String) -> Advice? {
        guard !settings.json else { return nil }
        if category == Fact.explicitCategory { return "Show explicit facts: norrisctl fact --category explicit" }
        let known = (try? call(FactCategories.self))?.value.items.map { $0.name } ?? []
        let meant = suggestion(of: known, for: category) { $0 }.dropFirst()
        return "\(value: meant)\(value: meant.isEmpty ? "" : " ")List the categories: norrisctl categories"
    }
}

/// Lowers the case of A to Z only, because other letters are in no name of a category.
private func lowercasedASCII(_ text: Substring.UTF8View) -> String {
    String(decoding: text.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
}

extension CommandArguments {
    /// Declares `--category`. Names of categories are lower case and contain no comma, so `Dev,science` are two.
    mutating func categories(_ values: inout [String], _ summary: String = FactCommand.categoryHelp) {
        option("category", short: "c", .category, summary, isRepeating: true) { text in
            let names = text.utf8.split(separator: UInt8(ascii: ",")).map { lowercasedASCII($0) }
            values += names.isEmpty ? [""] : names
            return true
        }
    }

    /// Declares `--source` of the commands about facts.
    mutating func factSource(_ value: inout FactScope?) {
        option(
            "source", .factScope,
            "norris (those of api.chucknorris.io and the built-in ones), fortune (fortune files) or all.",
            choices: FactScope.words
        ) { assign(&value, FactScope(rawValue: $0)) }
    }
}
