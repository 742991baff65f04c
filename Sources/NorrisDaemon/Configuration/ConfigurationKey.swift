import NorrisText

/// A key of a configuration file: name, meaning, and how its value is read into and written from `Root`.
struct ConfigurationKey<Root>: Sendable {
    let name: String
    /// One sentence for the man page; empty for a section.
    let summary: String
    /// The keys of a section.
    var keys: [ConfigurationKey<Root>] = []
    /// The values that the key accepts, such as `true or false`.
    let accepts: String
    /// Whether `null` or nothing is accepted for the default.
    var acceptsNull = false
    /// Whether the key has no default.
    var isRequired = false
    let read: @Sendable (YAMLNode, inout Root, inout ConfigurationReader) -> Void
    /// The value on one line, or on lines that each begin with a newline.
    let write: @Sendable (Root) -> String
}

extension ConfigurationKey {
    /// A key with a value.
    init<Value>(
        _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable, _ kind: ConfigurationKind<Value>,
        isRequired: Bool = false, _ summary: String
    ) {
        self.init(name, path, { _ in kind }, accepts: kind.expectation, isRequired: isRequired, summary)
    }

    /// A key with a value, whose kind depends on the keys before it.
    init<Value>(
        _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable,
        _ kind: @escaping @Sendable (Root) -> ConfigurationKind<Value>, accepts: String, isRequired: Bool,
        _ summary: String
    ) {
        self.init(
            name: name, summary: summary, accepts: accepts, isRequired: isRequired,
            read: { node, root, reader in
                if let value = reader.read(kind(root), node) { root[keyPath: path] = value }
            },
            write: { kind($0).write($0[keyPath: path]) }
        )
    }

    /// A key with a value or `null`, which is the default.
    init<Value>(
        _ name: String, _ path: any WritableKeyPath<Root, Value?> & Sendable, orNull kind: ConfigurationKind<Value>,
        _ summary: String
    ) {
        self.init(
            name: name, summary: summary, accepts: kind.expectation + ", or null", acceptsNull: true,
            read: { node, root, reader in root[keyPath: path] = reader.read(kind, node) },
            write: { $0[keyPath: path].map(kind.write) ?? "null" }
        )
    }

    /// A key with a list of values. Every invalid item is reported.
    init<Item>(
        _ name: String, _ path: any WritableKeyPath<Root, [Item]> & Sendable, listOf kind: ConfigurationKind<Item>,
        atMost maximum: Int = .max, _ summary: String
    ) {
        self.init(
            name: name, summary: summary, accepts: "a list, each item \(kind.expectation)",
            read: { node, root, reader in
                guard case .sequence(let items) = node.content else {
                    return reader.refuse(node, expected: "a list, each item \(kind.expectation)")
                }
                guard items.count <= maximum else {
                    return reader.refuse(node, "has \(items.count) items; remove some, at most \(maximum) are allowed")
                }
                root[keyPath: path] = items.compactMap { reader.read(kind, $0) }
            },
            write: { "[" + $0[keyPath: path].map(kind.write).joined(separator: ", ") + "]" }
        )
    }

    /// A section.
    init(section name: String, _ keys: [ConfigurationKey<Root>]) {
        self.init(
            name: name, summary: "", keys: keys, accepts: "", acceptsNull: true,
            read: { node, root, reader in reader.read(keys, in: node, into: &root) },
            write: { root in
                let lines = keys.flatMap { $0.yaml(root).split(separator: "\n") }
                return lines.map { "\n  \($0)" }.joined()
            }
        )
    }

    /// The key and its value as YAML, without a final newline.
    func yaml(_ root: Root) -> String {
        let value = write(root)
        return "\(name):" + (value.hasPrefix("\n") ? value : " " + value)
    }

    /// The dotted paths of all values at and below these keys, in order, with their keys.
    static func values(of keys: [Self], under prefix: String = "") -> [(path: String, key: Self)] {
        keys.flatMap { key in
            key.keys.isEmpty ? [(prefix + key.name, key)] : values(of: key.keys, under: "\(prefix)\(key.name).")
        }
    }
}

/// The description of a key in norrisd.conf(5) and in the shipped file.
package struct KeyDescription {
    /// The dotted path. A key of a post source begins with `posts.sources.NAME.`.
    package let path: String
    /// The valid values, such as `true or false`.
    package let accepts: String
    /// The default as text in the file, or nil if no default exists or the section's key contains the default.
    package let defaultText: String?
    package let summary: String

    /// The first name of the path.
    package var section: String { String(path.prefix { $0 != "." }) }
}

extension ConfigurationSchema {
    /// All keys with a value in order, followed by the keys of a source.
    package static var reference: [KeyDescription] {
        let top = ConfigurationKey.values(of: keys).map { path, key in
            KeyDescription(
                path: path, accepts: key.accepts, defaultText: key.write(Configuration()), summary: key.summary)
        }
        let below = sourceKeys.map { key in
            KeyDescription(
                path: "posts.sources.NAME.\(key.name)", accepts: key.accepts,
                defaultText: key.name == "enabled" ? "true" : nil, summary: key.summary)
        }
        return top + below
    }
}
