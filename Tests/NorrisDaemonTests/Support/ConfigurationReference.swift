@testable import NorrisDaemon

extension ConfigurationSchema {
    /// A key as norrisd.conf(5) and the shipped file describe it.
    struct Entry {
        /// Dotted; below a source of posts it begins with `posts.sources.NAME.`.
        var path: String
        /// The values it takes, such as `true or false`.
        var accepts: String
        /// As it would stand in the file; nil where there is none, or where the key above has it.
        var defaultText: String?
        /// One sentence.
        var summary: String
    }

    /// All keys with a value, in order, those of a source last.
    static var reference: [Entry] {
        let top = ConfigurationKey.values(of: keys).map { path, key in
            Entry(path: path, accepts: key.accepts, defaultText: key.write(Configuration()), summary: key.summary)
        }
        let below = sourceKeys.map { key in
            let defaultText = key.name == "enabled" ? "true" : nil
            return Entry(
                path: "posts.sources.NAME.\(key.name)", accepts: key.accepts, defaultText: defaultText,
                summary: key.summary
            )
        }
        return top + below
    }
}
