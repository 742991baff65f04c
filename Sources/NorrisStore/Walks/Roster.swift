/// The facts of one category in the order they came, each on a seat of its own for good.
///
/// A seat is never given to another fact, so that a walk can be kept as a few numbers: what it has passed, it has
/// passed. A fact that goes leaves its seat empty (-1) until it comes back.
struct Roster {
    /// The catalogue's slot of the fact on each seat, or -1.
    private(set) var slots: [Int32] = []
    /// The length in code points of the fact that has, or had, each seat.
    private var lengths: [UInt16] = []
    /// How many seats are taken.
    private(set) var present = 0
    /// The seats of each length interval, made when somebody first asks for short facts.
    private var index: LengthIndex?

    /// How many seats there are, empty ones counted.
    var seatCount: Int { slots.count }

    /// Adds a seat at the end and says its number.
    mutating func append(slot: Int32, length: Int) -> Int {
        let seat = slots.count
        slots.append(slot)
        lengths.append(UInt16(clamping: length))
        if slot >= 0 { present += 1 }
        index?.append(seat: UInt32(seat), length: length)
        return seat
    }

    /// A fact that was gone is back.
    mutating func occupy(seat: Int, slot: Int32) {
        if slots[seat] < 0 { present += 1 }
        slots[seat] = slot
    }

    mutating func vacate(seat: Int) {
        if slots[seat] >= 0 { present -= 1 }
        slots[seat] = -1
    }

    func length(of seat: Int) -> Int {
        Int(lengths[seat])
    }

    /// The number of seats on a strip.
    func count(of strip: Strip) -> UInt32 {
        switch strip {
        case .all: UInt32(slots.count)
        case .lengths(let interval): UInt32(index?[interval].count ?? 0)
        }
    }

    /// The seat at a place of a strip.
    func seat(at place: UInt32, of strip: Strip) -> Int {
        switch strip {
        case .all: Int(place)
        case .lengths(let interval): Int(index?[interval][Int(place)] ?? 0)
        }
    }

    /// Makes the index of lengths, if there is none yet.
    mutating func indexLengths() {
        guard index == nil else { return }
        var index = LengthIndex()
        for (seat, length) in lengths.enumerated() {
            index.append(seat: UInt32(seat), length: Int(length))
        }
        self.index = index
    }
}

/// A part of a roster that only ever grows at its end.
enum Strip: Hashable {
    case all
    case lengths(LengthInterval)
}
