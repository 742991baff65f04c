extension ConfigurationForm where Value == Bool {
    /// `true` or `false`, and none of the other words that YAML 1.1 took for them.
    static var flag: Self {
        Self(scalar: "true or false", write: { $0 ? "true" : "false" }) { scalar, _ throws(ConfigurationRefusal) in
            let word = scalar.text.lowercased()
            let value =
                switch word {
                case "true", "yes", "on", "y", "1": true
                case "false", "no", "off", "n", "0": false
                default: throw .mismatch()
                }
            guard scalar.isPlain else { throw .mismatch(hint: "write \(value), without quotes") }
            guard scalar.text.utf8.elementsEqual("\(value)".utf8) else { throw .mismatch(hint: "write \(value)") }
            return value
        }
    }
}

extension ConfigurationForm where Value == Int {
    /// A whole number in decimal digits.
    static func count(_ range: ClosedRange<Int>) -> Self {
        let expectation = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return Self(scalar: expectation, write: { "\($0)" }) { scalar, _ throws(ConfigurationRefusal) in
            guard let value = Int64(plainDigits: scalar.text), range.contains(Int(value)) else { throw .mismatch() }
            guard scalar.isPlain else { throw .mismatch(hint: "remove the quotes") }
            return Int(value)
        }
    }

    /// A number of bytes with its unit.
    static func size(_ range: ClosedRange<Int>) -> Self {
        let (lowest, highest) = (ByteSize.text(of: range.lowerBound), ByteSize.text(of: range.upperBound))
        let expectation = "a size from \(lowest) to \(highest), such as 64KiB or 16MiB"
        return Self(scalar: expectation, write: ByteSize.text) { scalar, _ throws(ConfigurationRefusal) in
            guard let bytes = ByteSize.bytes(of: scalar.text) else {
                throw .mismatch(hint: "write one whole number and B, KiB, MiB or GiB, without a space")
            }
            guard range.contains(bytes) else { throw .mismatch() }
            return bytes
        }
    }
}

extension ConfigurationForm where Value == Duration {
    /// A time with its unit.
    static func duration(_ range: ClosedRange<Duration>) -> Self {
        let (lowest, highest) = (range.lowerBound.configurationText, range.upperBound.configurationText)
        let expectation = "a duration from \(lowest) to \(highest), such as 90s, 15m, 6h or 7d"
        return Self(scalar: expectation, write: \.configurationText) { scalar, _ throws(ConfigurationRefusal) in
            guard let duration = Duration(configurationText: scalar.text) else {
                throw .mismatch(hint: "write one whole number and s, m, h or d, without a space")
            }
            guard range.contains(duration) else { throw .mismatch() }
            return duration
        }
    }

    /// How often an upstream is asked; under five minutes is allowed, but not without a warning.
    static var refresh: Self {
        var form = duration(.seconds(1) ... .days(365))
        let read = form.read
        form.read = { spot, reader in
            let value = read(spot, &reader)
            if let value, value < .minutes(5) {
                reader.warn(spot, "\(value.configurationText) asks the upstream very often; 5m or more is kinder to it")
            }
            return value
        }
        return form
    }

    /// How long something is kept.
    static var keep: Self {
        duration(.seconds(1) ... .days(3650))
    }
}

extension ConfigurationForm where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of a few words, in lower case.
    static var choice: Self {
        let words = Value.allCases.map(\.rawValue)
        let expectation = words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
        return Self(scalar: expectation, write: \.rawValue) { scalar, _ throws(ConfigurationRefusal) in
            guard let value = Value(rawValue: scalar.text) else { throw .mismatch() }
            return value
        }
    }
}
