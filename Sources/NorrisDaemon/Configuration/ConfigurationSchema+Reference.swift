extension ConfigurationSchema {
    /// A key as norrisd.conf(5) describes it.
    package struct Entry: Sendable, Equatable {
        /// Dotted; below a source of posts it begins with `posts.sources.NAME.`.
        package var path: String
        /// The values it takes, such as `true or false`.
        package var accepts: String
        /// As it would stand in the file; nil where there is none, or where the key above has it.
        package var defaultText: String?
        /// One sentence.
        package var summary: String
    }

    /// All keys with a value, in order, those of a source last.
    package static var reference: [Entry] {
        entries(of: keys, under: "", defaults: Configuration())
            + entries(of: sourceKeys, under: "posts.sources.NAME.", defaults: nil).map { entry in
                var entry = entry
                if entry.path.hasSuffix(".enabled") { entry.defaultText = "true" }
                return entry
            }
    }

    private static func entries<Root>(
        of keys: [ConfigurationKey<Root>], under prefix: String, defaults: Root?
    ) -> [Entry] {
        keys.flatMap { key in
            switch key.content {
            case .section(let inner):
                return entries(of: inner, under: prefix + key.name + ".", defaults: defaults)
            case .value(let member):
                return [
                    Entry(
                        path: prefix + key.name, accepts: member.expectation, defaultText: defaults.map(member.write),
                        summary: key.summary
                    )
                ]
            }
        }
    }
}
