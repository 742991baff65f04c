import NorrisProtocol

/// All facts in memory, in the form they have on the wire, with the rosters that walks go over.
///
/// Measured in one run: a round trip that is answered from here takes 16 microseconds, one that asks SQLite 400.
struct FactCatalogue {
    /// A fact in memory.
    struct Entry {
        let id: String
        let given: FactStore.Given
        /// Its seat on each of its rosters.
        fileprivate(set) var seats: [Seat] = []
    }

    /// A seat by the number of its roster.
    struct Seat {
        let roster: Int32
        let seat: Int32
    }

    /// A fact with its seats, ready to be put in: what takes time is done before a lock is held.
    struct Arrival {
        fileprivate let entry: Entry
        /// In code points.
        fileprivate let length: Int
        fileprivate let seats: [(roster: RosterName, seat: Int)]

        /// - Parameters:
        ///   - seats: its seat on each of ``rosters(of:)``; the next free one of a roster adds it at the end.
        ///   - json: writes one fact after the other in the same memory.
        init(_ fact: Fact, seats: [Int], json: inout JSONWriter) {
            json.removeAll()
            fact.encode(to: &json)
            let wire = json.bytes
            entry = Entry(
                id: fact.id,
                given: FactStore.Given(wire: wire, isLocal: fact.isLocal, isExplicit: fact.isExplicit)
            )
            length = fact.length
            self.seats = Array(zip(FactCatalogue.rosters(of: fact), seats))
        }
    }

    /// The facts by slot, and the slots by id: what grows with the number of facts, and is copied to grow.
    struct Entries {
        fileprivate var list: [Entry?] = []
        fileprivate var slots: [String: Int32] = [:]

        var ids: some Collection<String> { slots.keys }

        /// - Returns: false where there was room for so many more facts.
        mutating func makeRoom(for more: Int) -> Bool {
            let needed = slots.count + more
            guard needed > min(list.capacity, slots.capacity) else { return false }
            // Twice as much each time, so that many small additions do not copy everything many times.
            list.reserveCapacity(max(needed, 2 * slots.count))
            slots.reserveCapacity(max(needed, 2 * slots.count))
            return true
        }
    }

    /// Changed by ``insert(_:)`` and ``remove(id:)`` only.
    var entries = Entries()
    private var freeSlots: [Int32] = []
    private var rosters: [Roster] = []
    private var rosterNumbers: [RosterName: Int] = [:]
    /// The numbers of rosters that were forgotten, for the next ones.
    private var freeNumbers: [Int] = []

    /// How many facts are from an upstream.
    private var upstreamCount = 0

    var count: Int { entries.slots.count }

    var isLocal: Bool { upstreamCount == 0 }

    subscript(slot: Int32) -> Entry? {
        entries.list[Int(slot)]
    }

    /// A fact as it is given out.
    func given(_ slot: Int32) -> FactStore.Given? {
        entries.list[Int(slot)]?.given
    }

    func slot(of id: String) -> Int32? {
        entries.slots[id]
    }

    /// The categories that have facts, explicit facts not counted, by name.
    var categories: [FactCategories.Category] {
        rosterNumbers.compactMap { name, number in
            guard !name.category.isEmpty, !name.isExplicit, rosters[number].present > 0 else { return nil }
            return FactCategories.Category(name: name.category, count: rosters[number].present)
        }
        .sorted { $0.name < $1.name }
    }

    /// Whether any stored fact has the category.
    func hasCategory(_ name: String) -> Bool {
        [false, true].contains { isExplicit in
            rosterNumbers[RosterName(category: name, isExplicit: isExplicit)].map { rosters[$0].present > 0 } ?? false
        }
    }

    /// The names of the rosters a fact sits on: all facts, and each of its categories.
    static func rosters(of fact: Fact) -> [RosterName] {
        ([""] + fact.categories).map { RosterName(category: $0, isExplicit: fact.isExplicit) }
    }

    /// How many seats a roster has.
    func seatCount(of name: RosterName) -> Int {
        rosterNumbers[name].map { rosters[$0].seatCount } ?? 0
    }

    /// Adds an empty seat at a roster's end: one whose fact is gone.
    mutating func addEmptySeat(on name: RosterName, length: Int) {
        let number = number(of: name)
        _ = rosters[number].append(slot: -1, length: length)
    }

    /// Adds a fact, or puts it in place of the one with its id.
    mutating func insert(_ arrival: Arrival) {
        var entry = arrival.entry
        remove(id: entry.id)
        let slot = freeSlots.popLast() ?? Int32(entries.list.count)
        entry.seats.reserveCapacity(arrival.seats.count)
        for (name, seat) in arrival.seats {
            let number = number(of: name)
            while rosters[number].seatCount < seat { _ = rosters[number].append(slot: -1, length: 0) }
            if rosters[number].seatCount == seat {
                _ = rosters[number].append(slot: slot, length: arrival.length)
            } else {
                rosters[number].occupy(seat: seat, slot: slot)
            }
            entry.seats.append(Seat(roster: Int32(number), seat: Int32(seat)))
        }
        if Int(slot) == entries.list.count { entries.list.append(entry) } else { entries.list[Int(slot)] = entry }
        entries.slots[entry.id] = slot
        if !entry.given.isLocal { upstreamCount += 1 }
    }

    /// Takes a fact out; its seats stay empty until it comes back.
    mutating func remove(id: String) {
        guard let slot = entries.slots.removeValue(forKey: id), let entry = entries.list[Int(slot)] else { return }
        for seat in entry.seats {
            rosters[Int(seat.roster)].vacate(seat: Int(seat.seat))
        }
        entries.list[Int(slot)] = nil
        if !entry.given.isLocal { upstreamCount -= 1 }
        freeSlots.append(slot)
    }

    /// The number of a roster, made where there is none yet.
    mutating func number(of name: RosterName) -> Int {
        if let number = rosterNumbers[name] { return number }
        let number = freeNumbers.popLast() ?? rosters.count
        if number == rosters.count { rosters.append(Roster()) }
        rosterNumbers[name] = number
        return number
    }

    /// The categories that have facts, and those that have rosters only.
    var categoriesByUse: (used: Set<String>, unused: Set<String>) {
        let all = Set(rosterNumbers.keys.map(\.category)).subtracting([""])
        let used = all.intersection(rosterNumbers.lazy.filter { rosters[$0.value].present > 0 }.map(\.key.category))
        return (used, all.subtracting(used))
    }

    /// Takes the rosters of categories without facts out. No walk may go over them any more.
    mutating func forget(_ categories: Set<String>) {
        for category in categories {
            for isExplicit in [false, true] {
                let name = RosterName(category: category, isExplicit: isExplicit)
                guard let number = rosterNumbers[name], rosters[number].present == 0 else { continue }
                rosterNumbers[name] = nil
                rosters[number] = Roster()
                freeNumbers.append(number)
            }
        }
    }

    /// Makes sure that a roster can be walked by length.
    mutating func indexLengths(of roster: Int) {
        rosters[roster].indexLengths()
    }
}

extension FactCatalogue: WalkedFacts {
    func count(of strip: Strip, roster: Int) -> UInt32 {
        rosters[roster].count(of: strip)
    }

    func slot(at place: UInt32, of strip: Strip, roster: Int) -> Int32? {
        guard place < rosters[roster].count(of: strip) else { return nil }
        let slot = rosters[roster].slots[rosters[roster].seat(at: place, of: strip)]
        return slot < 0 ? nil : slot
    }

    /// The code points of the fact that has, or had, a seat.
    func length(ofSeat seat: UInt32, roster: Int) -> Int {
        rosters[roster].length(of: Int(seat))
    }

    func isFact(_ slot: Int32, on roster: Int) -> Bool {
        entries.list[Int(slot)]?.seats.contains { $0.roster == roster } ?? false
    }

    func hasFacts(roster: Int) -> Bool {
        rosters[roster].present > 0
    }
}
