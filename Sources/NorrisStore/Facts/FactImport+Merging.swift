import NorrisProtocol

extension FactImport {
    /// The facts with each id once, the first, and each text once.
    ///
    /// A stored fact that is left out for another one's sake is taken out of the cache.
    mutating func merged(_ facts: [Fact]) throws -> [Fact] {
        var merged: [Fact] = []
        var places: [Int64: Int] = [:]
        merged.reserveCapacity(facts.count)
        places.reserveCapacity(facts.count)
        ids.reserveCapacity(facts.count)
        for fact in facts where ids.insert(fact.id).inserted {
            try step()
            let digest = FactRecord.digest(ofText: fact.text)
            // Texts that are different and share a digest stay apart.
            if let place = places[digest], merged[place].text.hasSameBytes(as: fact.text) {
                merged[place] = try one(of: merged[place], fact)
            } else {
                places[digest] = merged.count
                merged.append(fact)
            }
        }
        return merged
    }

    /// The one of two facts with the same text that is kept, with the categories of both.
    private mutating func one(of first: Fact, _ second: Fact) throws -> Fact {
        let (storedFirst, storedSecond) = (try stored(first), try stored(second))
        let keepsFirst =
            (storedFirst == nil) == (storedSecond == nil)
            ? first.id.utf8.lexicographicallyPrecedes(second.id.utf8) : storedFirst != nil
        try remove(keepsFirst ? storedSecond : storedFirst)
        var kept = keepsFirst ? first : second
        kept.categories = first.categories.adding(second.categories)
        return kept
    }

    private func stored(_ fact: Fact) throws -> StoredFact? {
        guard let known = try StoredFact.find(fact, database), known.stored.group == rules.group else { return nil }
        return known.stored
    }
}

extension [String] {
    /// With those of the others that are not among these, in their order.
    func adding(_ others: [String]) -> [String] {
        others.reduce(into: self) { all, other in
            if !all.contains(other) { all.append(other) }
        }
    }
}
