import NorrisProtocol
import NorrisSystem
import NorrisTestSupport

@testable import NorrisStore

/// Simulated fact lists that grow, lose facts and are compacted, as in the store, but without a database.
struct ShuffleWorld {
    private(set) var index = FactIndex()
    private(set) var facts: [UInt32: Fact] = [:]
    private var lastOrdinal: UInt32 = 0
    private var lastEpoch: UInt32 = 0
    private var entries: [FactListName: [(ordinal: UInt32, length: Int, isRemoved: Bool)]] = [:]
    private var epochs: [FactListName: UInt32] = [:]

    /// The order is deterministic for a seed, unlike the order of a dictionary.
    var sortedOrdinals: [UInt32] { facts.keys.sorted() }

    @discardableResult mutating func arrive(_ new: [Fact]) -> [UInt32] {
        var changes = FactChanges()
        var ordinals: [UInt32] = []
        for fact in new {
            // Leaves gaps, as long records do.
            lastOrdinal += 1 + UInt32(fact.length % 3)
            ordinals.append(lastOrdinal)
            facts[lastOrdinal] = fact
            for name in Self.lists(of: fact) {
                if entries[name] == nil {
                    lastEpoch += 1
                    (entries[name], epochs[name]) = ([], lastEpoch)
                }
                entries[name]?.append((lastOrdinal, fact.length, false))
                changes.addedEntries[name, default: []].append((lastOrdinal, fact.length))
            }
        }
        finish(&changes, Set(changes.addedEntries.keys))
        return ordinals
    }

    /// - Parameter compacts: true to delete the removed entries of the affected lists.
    /// - Returns: the lists that restart the shuffles that have reached them.
    @discardableResult mutating func leave(_ ordinals: [UInt32], compacts: Bool = false) -> Set<FactListName> {
        var renewed: Set<FactListName> = []
        var changes = FactChanges()
        for ordinal in ordinals {
            guard let fact = facts.removeValue(forKey: ordinal) else { continue }
            for name in Self.lists(of: fact) {
                entries[name] = entries[name]?.map { ($0.ordinal, $0.length, $0.isRemoved || $0.ordinal == ordinal) }
                changes.removedEntries[name, default: []].append(ordinal)
            }
        }
        for name in changes.removedEntries.keys.sorted(by: { "\($0)" < "\($1)" }) {
            let live = entries[name]?.filter { !$0.isRemoved } ?? []
            if live.isEmpty || compacts { renewed.insert(name) }
            if live.isEmpty {
                (entries[name], epochs[name]) = (nil, nil)
            } else if compacts {
                lastEpoch += 1
                (entries[name], epochs[name]) = (live, lastEpoch)
            }
        }
        finish(&changes, Set(changes.removedEntries.keys))
        return renewed
    }

    private mutating func finish(_ changes: inout FactChanges, _ names: Set<FactListName>) {
        for name in names {
            let list = entries[name] ?? []
            changes.lists[name] = FactChanges.List(
                number: SequenceNumber(columnValue: 1), epoch: epochs[name] ?? 0, count: list.count,
                live: list.count { !$0.isRemoved })
        }
        index.apply(changes)
    }

    /// Simulates a restart: the index has the lists of `cache.db` in random order.
    mutating func restart(using generator: inout SeededRandom) {
        index = FactIndex()
        for name in entries.keys.sorted(by: { "\($0)" < "\($1)" }).shuffled(using: &generator) {
            let list = entries[name] ?? []
            index.update(name) {
                $0 = FactList(
                    name: name, epoch: epochs[name] ?? 0, live: list.count { !$0.isRemoved }, storedCount: list.count)
            }
        }
    }

    static func lists(of fact: Fact) -> [FactListName] {
        ([""] + fact.categories).map {
            FactListName(category: $0, kind: FactKind(FactGroup(source: fact.source), categories: fact.categories))
        }
    }

    mutating func positions(_ filter: ShuffleFilter) -> [Int] { filter.lists.map { index.position(of: $0) } }

    mutating func shuffle(_ filter: ShuffleFilter, key: UInt64) -> Shuffle {
        Shuffle(key: key, lists: positions(filter))
    }

    mutating func load(_ filter: ShuffleFilter) {
        while let name = index.missing(positions(filter)) {
            var list = FactList(name: name)
            for entry in entries[name] ?? [] {
                list.append(entry.ordinal, length: entry.length, isRemoved: entry.isRemoved)
            }
            index.update(name) { $0.load(list) }
        }
    }

    /// Returns the decoded shuffle, or nil if it differs from the original.
    mutating func restored(_ shuffle: Shuffle, _ filter: ShuffleFilter) -> Shuffle? {
        guard var restored = Shuffle(encoded: shuffle.encoded, lists: positions(filter)), restored == shuffle else {
            return nil
        }
        load(filter)
        restored.attach(to: index, filter.maxLength)
        return restored
    }

    func matching(_ filter: ShuffleFilter) -> Set<UInt32> {
        Set(
            facts.filter { _, fact in
                let isFortune = fact.source.hasPrefix("fortune:")
                return (filter.categories.isEmpty || !Set(filter.categories).isDisjoint(with: fact.categories))
                    && (filter.allowsExplicit || !fact.categories.contains("explicit"))
                    && (filter.source == .all || isFortune == (filter.source == .fortune))
                    && fact.text.unicodeScalars.count <= filter.maxLength ?? .max
            }.keys)
    }

    mutating func next(_ count: Int, _ shuffle: inout Shuffle, _ filter: ShuffleFilter) -> [UInt32] {
        load(filter)
        var served: [UInt32] = []
        while served.count < count, let ordinal = shuffle.next(from: index, filter.maxLength, without: served) {
            served.append(ordinal)
        }
        return served
    }
}

/// An independent check of the contract of a shuffle, by its served facts.
struct ShuffleJudge {
    /// The served facts of the cycle and the last fact. Several cycles are possible if the shuffle may have restarted.
    private var cycles: [(served: Set<UInt32>, last: UInt32?)] = [([], nil)]

    /// Notes the compaction of a list, after which the shuffle may restart.
    mutating func mayRestart() { cycles += cycles.map { ([], $0.last) } }

    /// Checks the next reply. Returns a description of the fault, or nil.
    mutating func fault(in reply: [UInt32], count: Int, matching: Set<UInt32>) -> String? {
        guard reply.count == min(count, matching.count) else { return "\(reply.count) of \(matching.count)" }
        guard Set(reply).count == reply.count else { return "a fact twice in a reply" }
        guard matching.isSuperset(of: reply) else { return "a fact that does not match" }
        for ordinal in reply {
            if ordinal == cycles.first?.last, matching.count > 1 { return "\(ordinal) twice in a row" }
            cycles = cycles.compactMap { cycle in
                guard cycle.served.contains(ordinal) else { return (cycle.served.union([ordinal]), ordinal) }
                return matching.isSubset(of: cycle.served) ? ([ordinal], ordinal) : nil
            }
            if cycles.isEmpty { return "\(ordinal) again before others" }
        }
        return nil
    }
}
