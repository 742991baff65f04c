/// How far a walk has come: a handful of numbers, however many facts there are.
///
/// A round goes through every seat of the walk's strips once. It is cut into segments: the first holds the seats there
/// are when the round begins; when it is done, the seats that came meanwhile are the next, and so on until none came.
/// Within a segment a ``KeyedPermutation`` gives the order, and the cursor counts. At the end comes what was deferred.
struct WalkPosition: Equatable {
    /// One strip's part of a segment.
    struct Bounds: Equatable {
        var low: UInt32 = 0
        var high: UInt32 = 0
        var count: UInt32 { high - low }
    }

    /// A place on a strip; the strip by its number among the walk's.
    struct Place: Equatable {
        var strip: UInt32
        var place: UInt32
    }

    /// Of this segment; the next one's is made from it.
    var key: UInt64
    /// How many places of the segment are behind us.
    var cursor: UInt32 = 0
    /// One for each strip of the walk, in order.
    var bounds: [Bounds]
    /// What was passed over in this round and is due before it ends: because the same reply held it already, from the
    /// round before, or because its seat was empty, in case its fact comes back.
    var deferred: [Place] = []
    /// What was given last, so that a new round does not begin with it.
    var last: Place?

    init(key: UInt64, strips: Int) {
        self.key = key
        bounds = Array(repeating: Bounds(), count: strips)
    }

    /// Past this many, a fact that comes back to a seat passed in its absence waits for the next round.
    static let maximumDeferredEmpty = 1_024

    mutating func deferEmpty(_ place: Place) {
        if deferred.count < WalkPosition.maximumDeferredEmpty { deferred.append(place) }
    }
}

extension WalkPosition {
    /// The form in `state.db`: little-endian words of 32 bits behind a byte that names the form.
    var encoded: [UInt8] {
        var bytes: [UInt8] = [1]
        func append(_ word: UInt32) {
            for shift in [0, 8, 16, 24] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
        append(UInt32(truncatingIfNeeded: key))
        append(UInt32(truncatingIfNeeded: key >> 32))
        append(cursor)
        append(UInt32(bounds.count))
        for bounds in bounds {
            append(bounds.low)
            append(bounds.high)
        }
        let places = deferred + (last.map { [$0] } ?? [])
        append(UInt32(deferred.count))
        for place in places {
            append(place.strip)
            append(place.place)
        }
        return bytes
    }

    /// nil for bytes of another form, or that make no sense.
    init?(encoded bytes: [UInt8], strips: Int) {
        guard bytes.first == 1, bytes.count % 4 == 1 else { return nil }
        let words = stride(from: 1, to: bytes.count, by: 4).map { start in
            (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[start + $1]) << UInt32(8 * $1) }
        }
        guard words.count >= 5 + 2 * strips, words[3] == UInt32(strips) else { return nil }
        self.init(key: UInt64(words[0]) | UInt64(words[1]) << 32, strips: strips)
        cursor = words[2]
        for index in 0..<strips {
            let (low, high) = (words[4 + 2 * index], words[5 + 2 * index])
            guard low <= high else { return nil }
            bounds[index] = Bounds(low: low, high: high)
        }
        let rest = words[(4 + 2 * strips)...]
        let places = stride(from: rest.startIndex + 1, to: rest.endIndex - 1, by: 2).map {
            Place(strip: rest[$0], place: rest[$0 + 1])
        }
        guard let deferredCount = rest.first.map(Int.init), (0...1).contains(places.count - deferredCount),
            places.allSatisfy({ $0.strip < strips })
        else { return nil }
        deferred = Array(places.prefix(deferredCount))
        last = places.dropFirst(deferredCount).first
        guard encoded == bytes else { return nil }
    }

    /// Whether the position can be one on strips of these lengths, so that no damaged one is followed.
    func fits(_ counts: [UInt32]) -> Bool {
        guard bounds.count == counts.count, zip(bounds, counts).allSatisfy({ $0.high <= $1 }) else { return false }
        return UInt64(cursor) <= bounds.reduce(0) { $0 + UInt64($1.count) }
    }
}
