import NorrisProtocol
import NorrisSystem
import NorrisTestSupport

@testable import NorrisStore

extension FactCatalogue {
    /// A catalogue of some facts, without the starting collection.
    static func of(_ facts: [Fact]) -> FactCatalogue {
        var builder = Builder()
        for fact in facts { builder.add(fact) }
        return builder.finish()
    }
}

/// Facts that arrive, change and go.
struct ShuffleWorld {
    private var facts: [Int: Fact] = [:]
    private var born = 0
    private var catalogue = FactCatalogue.of([])

    mutating func arrive(_ count: Int, using generator: inout SeededRandom) {
        for _ in 0..<count {
            // Some ids come back.
            let isOld = born > 0 && Int.random(in: 0..<4, using: &generator) == 0
            let number = isOld ? Int.random(in: 0..<born, using: &generator) : born
            born = max(born, number + 1)
            facts[number] = fact(number, using: &generator)
        }
        build()
    }

    mutating func leave(_ count: Int, using generator: inout SeededRandom) {
        for number in facts.keys.sorted().shuffled(using: &generator).prefix(count) { facts[number] = nil }
        build()
    }

    /// Changes texts, and so lengths and categories.
    mutating func edit(_ count: Int, using generator: inout SeededRandom) {
        for number in facts.keys.sorted().shuffled(using: &generator).prefix(count) {
            facts[number] = fact(number, using: &generator)
        }
        build()
    }

    private func fact(_ number: Int, using generator: inout SeededRandom) -> Fact {
        var categories = ["a", "b", "c"].filter { _ in Bool.random(using: &generator) }
        if Int.random(in: 0..<6, using: &generator) == 0 { categories.append("explicit") }
        // Different texts, because equal texts are one fact.
        let text = "\(number)" + String(repeating: "x", count: Int.random(in: 0...55, using: &generator))
        return .upstream(
            "\(number)", text, categories: categories, source: number.isMultiple(of: 2) ? "chucknorris" : "fortune:x")
    }

    private mutating func build() { catalogue = .of(facts.keys.sorted().compactMap { facts[$0] }) }

    func matching(_ filter: FactFilter) -> Set<String> {
        Set(
            facts.values.filter { fact in
                (filter.categories.isEmpty || !Set(filter.categories).isDisjoint(with: fact.categories))
                    && (filter.allowsExplicit || !fact.categories.contains("explicit"))
                    && (filter.source == .all || fact.source.hasPrefix("fortune:") == (filter.source == .fortune))
                    && fact.text.unicodeScalars.count <= filter.maxLength ?? .max
            }.map(\.id))
    }

    func next(_ count: Int, _ shuffle: inout Shuffle, _ filter: FactFilter) -> [String] {
        var served: [UInt64] = []
        var ids: [String] = []
        while served.count < count, let number = shuffle.next(filter, from: catalogue, without: served) {
            served.append(catalogue.hash(number))
            ids.append(catalogue.fact(number).id)
        }
        return ids
    }
}

/// An independent check of the promise of a shuffle, by its served facts.
struct ShuffleJudge {
    private struct Cycle: Hashable {
        var served: Set<String>
        /// The facts that have matched since the cycle began.
        var throughout: Set<String>

        var mayEnd: Bool { throughout.isSubset(of: served) }
    }

    /// The cycles that are possible after the served facts. Several are, because a fact that has arrived in a cycle may
    /// be served in it or in the next one.
    private var cycles: Set<Cycle> = [Cycle(served: [], throughout: [])]
    private var last: String?

    /// Notes the matching facts after a change.
    mutating func changed(to matching: Set<String>) {
        cycles = Set(
            cycles.map { Cycle(served: $0.served, throughout: $0.throughout.intersection(matching)) })
    }

    /// Checks the next reply. Returns a description of the fault, or nil.
    mutating func fault(in reply: [String], count: Int, matching: Set<String>) -> String? {
        guard reply.count == min(count, matching.count) else { return "\(reply.count) of \(matching.count)" }
        guard Set(reply).count == reply.count else { return "a fact twice in a reply" }
        guard matching.isSuperset(of: reply) else { return "a fact that does not match" }
        for id in reply {
            if id == last, matching.count > 1 { return "\(id) twice in a row" }
            var next: Set<Cycle> = []
            for cycle in cycles {
                if cycle.mayEnd { next.insert(Cycle(served: [id], throughout: matching)) }
                if !cycle.served.contains(id) {
                    next.insert(Cycle(served: cycle.served.union([id]), throughout: cycle.throughout))
                }
            }
            if next.isEmpty { return "\(id) again before others" }
            (cycles, last) = (next, id)
        }
        return nil
    }
}
