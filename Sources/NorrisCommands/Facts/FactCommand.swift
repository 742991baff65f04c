import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl fact`: the next facts, the fact of the day, or one by its id.
struct FactCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "fact", aliases: ["random"], abstract: "Show facts you have not seen yet.",
        discussion: """
            You get every matching fact once before any repeats.

            Examples:
              norrisctl fact
              norrisctl fact --category dev --category science --count 3
              norrisctl fact --max-length 80 --name "Grace Hopper"
              norrisctl fact --today --copy
            """
    )

    @Option("Only facts of this category. May be repeated.", "name", short: "c") var category: [String] = []
    @Option("How many facts, 1 to 100.", short: "n", in: 1...100) var count: Int?
    @Option("Only facts of at most this many characters.", short: "l", in: 1...10_000) var maxLength: Int?
    @Option("Replace Chuck Norris with this name.", "name", parsing: .unconditional) var name: String?
    @Option(factSourceHelp, "source", factSource) var source: String?
    @Option("The fact with this id.", "id", parsing: .unconditional) var id: String?
    @Flag(help: "The fact of the day, the same for everybody.") var today = false
    @Flag(help: "Include explicit facts.") var explicit = false
    @Flag(help: "Also copy the fact to the clipboard.") var copy = false
    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    private var request: FactRequest {
        FactRequest(
            categories: category, count: count, maxLength: maxLength, name: name,
            source: source.flatMap(FactScope.init(rawValue:)), id: id, isToday: today, allowsExplicit: explicit,
            isCopied: copy
        )
    }

    func validate() throws {
        if let contradiction = request.contradiction { throw ValidationError(contradiction) }
        try globals.refuseJSON(besides: ("--copy", copy))
    }

    func run(in session: Session) throws(Failure) -> Report {
        try request.report(session)
    }
}

/// Which facts `norrisctl fact` shows. It knows nothing of ArgumentParser, see `PlainArguments`.
struct FactRequest: Equatable {
    var categories: [String] = []
    var count: Int?
    /// In characters.
    var maxLength: Int?
    /// In place of Chuck Norris.
    var name: String?
    var source: FactScope?
    var id: String?
    var isToday = false
    var allowsExplicit = false
    /// Whether it goes to the clipboard as well.
    var isCopied = false

    /// What makes no sense together, as a sentence; nil where all is well.
    var contradiction: String? {
        let choosesRandom = !categories.isEmpty || count != nil || maxLength != nil || source != nil || allowsExplicit
        if id != nil, isToday || choosesRandom { return "--id names one fact: leave out the other options." }
        if isToday, choosesRandom { return "--today is one fact for everybody: leave out the other options." }
        if isCopied, count ?? 1 > 1 { return "--copy takes one fact: leave out --count." }
        return nil
    }

    func report(_ session: Session) throws(Failure) -> Report {
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
            source: source
        )
        try session.checkFormat(for: FactRandom.self)
        let reply = try session.call(
            FactRandom.self, parameters, notFound: categoryHint(categories, allowsExplicit: allowsExplicit)
        )
        return report(session, reply, reply.value.items, reply.value.freshness)
    }

    private func report<Result: WireValue>(
        _ session: Session, _ reply: Reply<Result>, _ facts: [Fact], _ freshness: Freshness?
    ) -> Report {
        let nothing = "No fact matches. Try another category (norrisctl categories) or a larger --max-length."
        var report = session.report(
            reply, freshness: freshness, source: "facts", nothing: facts.isEmpty ? nothing : nil
        ) { $0.facts(facts) }
        if isCopied, let fact = facts.first {
            report.attempt { () throws(Failure) in try session.copy(fact.text) }
        }
        return report
    }
}

/// The hint in words of norrisctl where the daemon does not have a category or leaves it out.
func categoryHint(_ categories: [String], allowsExplicit: Bool = false) -> Advice? {
    guard !categories.isEmpty else { return nil }
    return categories.contains("explicit") && !allowsExplicit
        ? "Include explicit facts: norrisctl fact --explicit" : "List the categories: norrisctl categories"
}

/// What the help says of `--source` where it is about facts.
let factSourceHelp = "norris (the facts of the upstream and the built-in ones), fortune (fortune files) or all."

/// Checks the value of such an option. It stays a text: see ``favoriteKind(_:)``.
let factSource = checked("it takes norris, fortune or all.") { FactScope(rawValue: $0) != nil }
