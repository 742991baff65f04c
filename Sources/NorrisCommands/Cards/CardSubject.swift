import NorrisProtocol
import NorrisTerminal
import NorrisText

/// What a card is about.
enum CardSubject {
    case id(String)
    /// A text of the user's own; the daemon is not asked.
    case text(String)
    case today
    /// The fact the user was shown last, or where there is none the next one.
    case last

    /// The fact, the result it came in, and how fresh that is.
    typealias Found = (fact: Fact, json: any JSONEncodable, freshness: Freshness?)

    func fact(_ session: Session) throws(Failure) -> Found {
        switch self {
        case .id(let id): return try Self.fact(id: id, session)
        case .text(let text):
            let fact = try Self.fact(text: text)
            return (fact, FactGet.Result(fact: fact), nil)
        case .today:
            let reply = try session.call(FactToday.self)
            return (reply.value.fact, reply.json, reply.value.freshness)
        case .last: return try Self.last(session)
        }
    }

    private static func fact(id: String, _ session: Session) throws(Failure) -> Found {
        let reply = try session.call(FactGet.self, IDParameters(id: id))
        return (reply.value.fact, reply.json, nil)
    }

    private static func fact(text: String) throws(Failure) -> Fact {
        let text = sanitizedText(text)
        guard !sanitizedLine(text).isEmpty else {
            throw Failure(.usage, "There is nothing to be seen in the text.", hint: "Give one: --text \"Ship it.\"")
        }
        guard text.unicodeScalars.count <= Fact.maximumLength else {
            let limit = groupedDigits(Fact.maximumLength)
            throw Failure(.usage, "The text is longer than \(limit) characters.", hint: "Leave some of it out.")
        }
        // The same text has the same id, and so the same picture.
        return Fact(id: "text-" + String(stableHash(text), radix: 16), text: text, categories: [], source: "text")
    }

    private static func last(_ session: Session) throws(Failure) -> Found {
        do throws(Failure) {
            let served = try session.call(
                RecentServed.self, RecentServed.Parameters(kind: .fact)
            )
            return try fact(id: served.value.id, session)
        } catch {
            // There is none, it is gone, or an older daemon does not know it.
            guard [.notFound, .unknownMethod].contains(error.response?.code) else { throw error }
        }
        let reply = try session.call(FactRandom.self)
        guard let fact = reply.value.items.first else {
            throw Failure(.nothing, "norrisd has no fact.", hint: "Draw a text of your own: --text \"Ship it.\"")
        }
        return (fact, reply.json, reply.value.freshness)
    }
}
