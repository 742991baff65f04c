/// An entry of `posts.sources` while it is read; what is still nil then comes from `posts`, or is missing.
struct PostSourceDraft {
    var kind: Configuration.PostSourceKind?
    var url: String?
    var enabled = true
    var refresh: Duration?
    var keep: Duration?
}

extension ConfigurationSchema {
    /// The keys of one source. `kind` comes first, because what `url` may be depends on it.
    static let sourceKeys: [ConfigurationKey<PostSourceDraft>] = [
        .init(
            "kind", \.kind, .ifGiven(.choice), "What speaks there: RSS, Atom or JSON Feed, or one of the APIs.",
            isRequired: true
        ),
        .init(
            "url",
            .init(
                expectation: "an http or https URL",
                acceptsNull: false,
                isRequired: true,
                read: { spot, draft, reader in
                    let isDocument = draft.kind == nil || draft.kind == .feed
                    let form: ConfigurationForm<String> = isDocument ? .documentURL : .baseURL
                    draft.url = form.read(spot, &reader)
                },
                write: { YAMLText.scalar($0.url ?? "") }
            ),
            "The document of a feed, else the base to which the kind adds its path."
        ),
        .init("enabled", \.enabled, .flag, "Whether this source is fetched; stored posts are served all the same."),
        .init("refresh", \.refresh, .ifGiven(.refresh), "How often it is fetched; posts.refresh if not given."),
        .init("keep", \.keep, .ifGiven(.keep), "How long its posts are kept; posts.keep if not given."),
    ]
}

extension ConfigurationKey<Configuration>.Member {
    /// `posts.sources`; reads after `posts.refresh` and `posts.keep`, which its entries inherit.
    static var postSources: Self {
        Self(
            expectation: "a mapping of names to sources",
            // An explicit null is refused all the same; nothing but comments is an empty mapping.
            acceptsNull: true,
            read: { spot, configuration, reader in
                let expected = "a mapping such as {planet: {kind: feed, url: https://planet.example/rss.xml}}"
                guard let entries = reader.entries(of: spot, expected: expected) else { return }
                configuration.posts.sources = entries.compactMap { name, spot in
                    reader.readSource(name, spot, inheriting: configuration.posts)
                }
            },
            write: { configuration in
                if configuration.posts.sources.isEmpty { return "{}" }
                return configuration.posts.sources.map { "\n    " + $0.yaml }.joined()
            }
        )
    }
}

extension ConfigurationReader {
    /// One entry of `posts.sources`; nil, and a fault, if it cannot be used.
    fileprivate mutating func readSource(
        _ name: String, _ spot: ConfigurationSpot, inheriting posts: Configuration.Posts
    ) -> Configuration.PostSource? {
        if ["facts", "gifs"].contains(name) {
            refuse(spot, "is the name of a source that is always there; choose another name")
        } else if !Self.isSourceName(name) {
            refuse(spot, "is no name for a source; use 1 to 40 characters of a-z, 0-9, _ and -")
        }
        let faultsBefore = faults.count
        var draft = PostSourceDraft()
        read(ConfigurationSchema.sourceKeys, in: spot, into: &draft)
        guard let kind = draft.kind, let url = draft.url else {
            // Where something else is wrong with the source, the missing value is likely the one already reported.
            if faults.count == faultsBefore {
                refuse(spot, "has no \(draft.kind == nil ? "kind" : "url"); every source needs kind and url")
            }
            return nil
        }
        return Configuration.PostSource(
            name: name, kind: kind, url: url, enabled: draft.enabled,
            refresh: draft.refresh ?? posts.refresh, keep: draft.keep ?? posts.keep
        )
    }

    private static func isSourceName(_ name: String) -> Bool {
        (1...40).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            }
    }
}

extension Configuration.PostSource {
    /// The entry on one line, all that it inherited written out.
    fileprivate var yaml: String {
        let draft = PostSourceDraft(kind: kind, url: url, enabled: enabled, refresh: refresh, keep: keep)
        let pairs = ConfigurationSchema.sourceKeys.compactMap { key in
            if case .value(let member) = key.content { "\(key.name): \(member.write(draft))" } else { nil }
        }
        return "\(YAMLText.scalar(name)): {\(pairs.joined(separator: ", "))}"
    }
}
