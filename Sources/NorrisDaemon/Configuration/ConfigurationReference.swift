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
