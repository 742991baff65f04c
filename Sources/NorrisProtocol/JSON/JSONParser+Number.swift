extension JSONParser {
    /// The number that begins at the position.
    mutating func number() throws(JSONError) -> JSON {
        let start = position
        let isNegative = bytes[position] == UInt8(ascii: "-")
        if isNegative {
            position += 1
        }
        let firstDigit = position
        var magnitude: Int64 = 0
        var isTooLarge = false
        while let digit = takeDigit() {
            // Stops growing once it is out of range, so it never overflows.
            if magnitude <= JSON.maximumInteger {
                magnitude = magnitude * 10 + Int64(digit)
            } else {
                isTooLarge = true
            }
        }
        let digits = position - firstDigit
        guard digits > 0, digits == 1 || bytes[firstDigit] != UInt8(ascii: "0") else {
            throw JSONError(.invalidNumber, at: start)
        }
        let hasFraction = takeByte(UInt8(ascii: "."))
        if hasFraction {
            try takeDigits(ofNumberAt: start)
        }
        let hasExponent = takeByte(UInt8(ascii: "e")) || takeByte(UInt8(ascii: "E"))
        if hasExponent {
            _ = takeByte(UInt8(ascii: "+")) || takeByte(UInt8(ascii: "-"))
            try takeDigits(ofNumberAt: start)
        }
        if hasFraction || hasExponent {
            return .double(try double(from: start))
        }
        guard !isTooLarge, magnitude <= JSON.maximumInteger else {
            throw JSONError(.integerOutOfRange, at: start)
        }
        return .integer(isNegative ? -magnitude : magnitude)
    }

    /// The nearest double to the literal between `start` and the position, which is known to be well formed.
    private func double(from start: Int) throws(JSONError) -> Double {
        let literal = String(decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self)
        guard let value = Double(literal), value.isFinite else { throw JSONError(.numberTooLarge, at: start) }
        return value
    }

    private mutating func takeDigits(ofNumberAt start: Int) throws(JSONError) {
        guard takeDigit() != nil else { throw JSONError(.invalidNumber, at: start) }
        while takeDigit() != nil {}
    }

    private mutating func takeDigit() -> UInt8? {
        guard position < bytes.count else { return nil }
        let digit = bytes[position] &- UInt8(ascii: "0")
        guard digit < 10 else { return nil }
        position += 1
        return digit
    }

    private mutating func takeByte(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }
}
