extension JSONWriter {
    /// An integer; beyond ±`JSON.maximumInteger` it would not be read back, so such a number must go as a string.
    package mutating func integer(_ value: Int64) {
        assert(value.magnitude <= UInt64(JSON.maximumInteger), "\(value) is beyond 2^53.")
        beginValue()
        if value < 0 {
            output.append(UInt8(ascii: "-"))
        }
        // 20 digits hold any number of 64 bits; they are found from the last to the first.
        var digits: InlineArray<20, UInt8> = InlineArray(repeating: 0)
        var first = 20
        var rest = value.magnitude
        repeat {
            first -= 1
            digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        for index in first..<20 { output.append(digits[index]) }
    }

    package mutating func integer(_ value: Int) {
        integer(Int64(value))
    }

    /// The shortest text that reads back as the same double. JSON has no infinity and no NaN: they become `null`.
    package mutating func double(_ value: Double) {
        guard value.isFinite else { return null() }
        beginValue()
        // `description` is the shortest round trip, and its forms (`0.1`, `5e-324`, `1e+16`) are all JSON numbers.
        output.append(Array(value.description.utf8))
    }
}
