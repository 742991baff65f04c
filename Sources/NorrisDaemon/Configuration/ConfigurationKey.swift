/// A key that `Root` has in the file: its name, its meaning, and how it gets into `Root` and out of it again.
struct ConfigurationKey<Root>: Sendable {
    var name: String
    /// One sentence for the man page.
    var summary: String
    var content: Content

    enum Content: Sendable {
        case value(Member)
        case section([ConfigurationKey<Root>])
    }

    /// A form, tied to the place in `Root` where its value lives.
    struct Member: Sendable {
        var expectation: String
        var acceptsNull: Bool
        /// Whether there is no default to fall back on.
        var isRequired = false
        var read: @Sendable (ConfigurationSpot, inout Root, inout ConfigurationReader) -> Void
        var write: @Sendable (Root) -> String
    }

    /// A key with a value.
    init<Value>(
        _ name: String,
        _ path: any WritableKeyPath<Root, Value> & Sendable,
        _ form: ConfigurationForm<Value>,
        _ summary: String,
        isRequired: Bool = false
    ) {
        self.name = name
        self.summary = summary
        content = .value(
            Member(
                expectation: form.expectation,
                acceptsNull: form.acceptsNull,
                isRequired: isRequired,
                read: { spot, root, reader in
                    if let value = form.read(spot, &reader) { root[keyPath: path] = value }
                },
                write: { form.write($0[keyPath: path]) }
            )
        )
    }

    /// A key with a value that is read in view of what was read before it.
    init(_ name: String, _ member: Member, _ summary: String) {
        self.name = name
        self.summary = summary
        content = .value(member)
    }

    /// A key with more keys below it.
    init(section name: String, _ keys: [ConfigurationKey<Root>], _ summary: String) {
        self.name = name
        self.summary = summary
        content = .section(keys)
    }
}

extension ConfigurationKey {
    /// The dotted paths of all values below these keys, in order.
    static func paths(of keys: [Self]) -> [String] {
        keys.flatMap { key in
            switch key.content {
            case .value: [key.name]
            case .section(let inner): paths(of: inner).map { "\(key.name).\($0)" }
            }
        }
    }
}
