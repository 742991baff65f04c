import NorrisProtocol
import NorrisTerminal

/// Which facts `norrisctl fact` shows.
struct FactRequest: Equatable {
    var categories: [String] = []
    var count: Int?
    /// In characters.
    var maxLength: Int?
    /// In place of Chuck Norris.
    var name: String?
    var id: String?
    var isToday = false
    var allowsExplicit = false
    /// Whether it goes to the clipboard as well.
    var isCopied = false

    /// What makes no sense together, as a sentence; nil where all is well.
    var contradiction: String? {
        let choosesRandom = !categories.isEmpty || count != nil || maxLength != nil || name != nil || allowsExplicit
        if id != nil, isToday || choosesRandom {
            return "--id stands alone: it names one fact."
        }
        if isToday, choosesRandom {
            return "--today stands alone: the fact of the day is the same for everybody."
        }
        if isCopied, count ?? 1 > 1 {
            return "--copy takes one fact: leave out --count."
        }
        return nil
    }

    func report(_ session: Session) throws(Failure) -> Report {
        if let id {
            let reply = try session.call(FactGet.self, IDParameters(id: id))
            return report(session, reply.json, [reply.value.fact], nil)
        }
        if isToday {
            let reply = try session.call(FactToday.self)
            return report(session, reply.json, [reply.value.fact], reply.value.freshness)
        }
        do {
            let reply = try session.call(FactRandom.self, parameters)
            return report(session, reply.json, reply.value.items, reply.value.freshness)
        } catch {
            throw error.withCategoryHint(categories, allowsExplicit: allowsExplicit)
        }
    }

    private var parameters: FactRandom.Parameters {
        FactRandom.Parameters(
            categories: categories,
            count: count,
            maxLength: maxLength,
            name: name,
            allowExplicit: allowsExplicit
        )
    }

    private func report(_ session: Session, _ json: JSON, _ facts: [Fact], _ freshness: Freshness?) -> Report {
        var report = session.report(
            json,
            isEmpty: facts.isEmpty,
            freshness: freshness,
            source: "facts",
            nothing: "No fact matches; try other categories (norrisctl categories) or a larger --max-length."
        ) { $0.facts(facts) }
        if isCopied, let fact = facts.first {
            report.attempt { () throws(Failure) in try session.copy(fact.text) }
        }
        return report
    }
}

extension Failure {
    /// The hint in words of norrisctl where the daemon does not have a category or keeps it back.
    func withCategoryHint(_ categories: [String], allowsExplicit: Bool) -> Failure {
        guard response?.code == .notFound, !categories.isEmpty else { return self }
        var failure = self
        failure.hint = categories.contains("explicit") && !allowsExplicit
            ? "norrisctl fact --explicit shows explicit facts as well."
            : "norrisctl categories lists those there are."
        return failure
    }
}
