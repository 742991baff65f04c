package import NorrisProtocol

/// The usable facts of one answer.
package struct FactBatch: Sendable, Equatable {
    /// An answer with more jokes is refused: the real upstream has some ten thousand.
    static let maximumJokes = 100_000

    /// In the order of the answer, no id twice.
    package var facts: [Fact]
    /// How many items could not be used.
    package var skipped: Int
    /// How many items there were.
    package var total: Int

    package init(facts: [Fact], skipped: Int, total: Int) {
        self.facts = facts
        self.skipped = skipped
        self.total = total
    }

    /// Reads the answer of a search: an object with the jokes under `result`, complete and valid as a whole.
    init(searchResult body: [UInt8], _ budget: DecodingBudget) throws(UnusableBody) {
        self.init(facts: [], skipped: 0, total: 0)
        var ids: Set<String> = []
        try JSONItems.forEach(in: body, under: "result", budget) { item throws(UnusableBody) in
            total += 1
            if total > FactBatch.maximumJokes {
                throw .fault("answered with more than \(FactBatch.maximumJokes) jokes")
            }
            guard item.count <= JSONItems.maximumItem, let json = try? JSON.parse(item),
                let fact = Fact(joke: json, budget)
            else {
                skipped += 1
                return
            }
            // Ids are ASCII in practice; equal ones of other forms would not both fit a database either.
            guard ids.insert(fact.id).inserted else { return }
            budget.spend(bytes: MemoryLayout<Fact>.stride)
            facts.append(fact)
        }
        if facts.isEmpty && total > 0 {
            throw .fault("answered with \(total) jokes of which none can be used")
        }
    }
}
