import Yams

/// What a key accepts: how its value is read, how it is written, and the words that say so.
struct ConfigurationForm<Value: Sendable>: Sendable {
    /// Completes "expected …", such as `a whole number from 1 to 100`; also the man page's text.
    var expectation: String
    /// Whether `null` is a value and not a mistake.
    var acceptsNull = false
    /// Reports what is wrong to the reader and then answers nil.
    var read: @Sendable (ConfigurationSpot, inout ConfigurationReader) -> Value?
    /// The value on one line, as it may stand in a flow list; or a block that begins with a line feed.
    var write: @Sendable (Value) -> String
}

/// Why a scalar is not a value of its form.
enum ConfigurationRefusal: Error {
    /// Something else was expected; the message quotes what was found, then the hint.
    case mismatch(hint: String? = nil)
    /// A sentence of its own, which says all and quotes nothing.
    case sentence(String)
}

extension ConfigurationForm {
    /// A form whose values are single scalars.
    init(
        scalar expectation: String,
        write: @escaping @Sendable (Value) -> String,
        read: @escaping @Sendable (ConfigurationScalar, ConfigurationPlace) throws(ConfigurationRefusal) -> Value
    ) {
        self.init(
            expectation: expectation,
            read: { spot, reader in
                do throws(ConfigurationRefusal) {
                    guard let scalar = spot.scalar else { throw .mismatch() }
                    return try read(scalar, reader.place)
                } catch {
                    switch error {
                    case .mismatch(let hint): reader.refuse(spot, expected: expectation, hint: hint)
                    case .sentence(let sentence): reader.refuse(spot, sentence)
                    }
                    return nil
                }
            },
            write: write
        )
    }

    /// What another form takes, or `null`.
    static func orNull<Wrapped>(_ form: ConfigurationForm<Wrapped>) -> Self where Value == Wrapped? {
        Self(
            expectation: form.expectation + ", or null",
            acceptsNull: true,
            read: { spot, reader in spot.isNull ? .some(nil) : form.read(spot, &reader) },
            write: { $0.map(form.write) ?? "null" }
        )
    }

    /// What another form takes, for a key that need not be given; `null` is still a mistake.
    static func ifGiven<Wrapped>(_ form: ConfigurationForm<Wrapped>) -> Self where Value == Wrapped? {
        Self(
            expectation: form.expectation,
            read: { spot, reader in form.read(spot, &reader) },
            write: { $0.map(form.write) ?? "null" }
        )
    }

    /// A list of what another form takes. Every item that is wrong is reported.
    static func list<Item>(of form: ConfigurationForm<Item>) -> Self where Value == [Item] {
        Self(
            expectation: "a list of which each item is " + form.expectation,
            read: { spot, reader in
                guard case .sequence(let items) = spot.node else {
                    let hint = spot.scalar.map { "write [\(YAMLText.scalar($0.text))]" }
                    reader.refuse(spot, expected: "a list", hint: hint)
                    return nil
                }
                var values: [Item] = []
                for (index, item) in items.enumerated() {
                    let spot = ConfigurationSpot(item, line: spot.line, path: "\(spot.path)[\(index)]")
                    guard reader.acceptsTag(of: spot), let value = form.read(spot, &reader) else { continue }
                    values.append(value)
                }
                return values
            },
            write: { "[" + $0.map(form.write).joined(separator: ", ") + "]" }
        )
    }
}
