/// The one table of all keys: reading, printing, suggestions and the man page come from it.
package enum ConfigurationSchema {
    static let keys: [ConfigurationKey<Configuration>] = [
        ConfigurationKey(
            section: "log",
            [.init("level", \.log.level, .choice, "The least important messages that are logged.")],
            "Logging."
        ),
        ConfigurationKey(
            "admin_groups", \.adminGroups, .list(of: .text("the name of a group, as text")),
            "Groups whose members may reload the configuration and clear the cache, besides root and norrisd's own user."
        ),
        ConfigurationKey(section: "limits", limits, "Limits of the socket."),
        ConfigurationKey(section: "http", http, "Requests to upstreams."),
        ConfigurationKey(section: "facts", facts, "Facts from api.chucknorris.io and from fortune files."),
        ConfigurationKey(section: "gifs", gifs, "GIFs from Giphy."),
        ConfigurationKey(section: "posts", posts, "Posts from feeds and other services."),
    ]

    private static let limits: [ConfigurationKey<Configuration>] = [
        .init("connections", \.limits.connections, .count(1...65_536), "Connections served at a time."),
        .init(
            "connections_per_user", \.limits.connectionsPerUser, .count(1...65_536),
            "Connections served at a time for one user; administrators are excepted."
        ),
    ]

    private static let http: [ConfigurationKey<Configuration>] = [
        .init(
            "timeout", \.http.timeout, .duration(.seconds(1) ... .minutes(10)),
            "How long a whole request may take."
        ),
        .init("max_body", \.http.maxBody, .size((1 << 10)...(1 << 28)), "The largest response, counted uncompressed."),
        .init("user_agent", \.http.userAgent, .headerValue, "How norrisd introduces itself to upstreams."),
        .init("proxy", \.http.proxy, .orNull(.proxy), "The HTTP proxy through which upstreams are reached."),
    ]

    private static let facts: [ConfigurationKey<Configuration>] = [
        .init("enabled", \.facts.enabled, .flag, "Whether facts are fetched; stored ones are served all the same."),
        .init("base_url", \.facts.baseURL, .baseURL, "The API of the facts."),
        .init("refresh", \.facts.refresh, .refresh, "How often the facts are fetched."),
        .init(
            "queries", \.facts.queries, .list(of: .query(3...120)),
            "Searches whose results are fetched in bulk; one request each."
        ),
        .init("fortunes", \.facts.fortunes, .list(of: .path), "Fortune cookie files or folders to read as well."),
    ]

    private static let gifs: [ConfigurationKey<Configuration>] = [
        .init("enabled", \.gifs.enabled, .flag, "Whether GIFs are fetched; without a key they rest anyway."),
        .init("base_url", \.gifs.baseURL, .baseURLForKey, "The API of the GIFs."),
        .init(
            "api_key_file", \.gifs.apiKeyFile, .orNull(.path),
            "A file that holds the key of the API, where the systemd credential giphy-api-key is not used."
        ),
        .init("rating", \.gifs.rating, .choice, "The strongest content rating that is asked for."),
        .init("refresh", \.gifs.refresh, .refresh, "How often GIFs are fetched; a search stays fresh as long."),
        .init("queries", \.gifs.queries, .list(of: .query(1...50)), "Searches whose results are fetched ahead."),
        .init("keep", \.gifs.keep, .keep, "How long anything of a GIF but its id and title is kept."),
        .init("hourly_quota", \.gifs.hourlyQuota, .count(1...1_000_000), "Requests an hour that the key allows."),
    ]

    private static let posts: [ConfigurationKey<Configuration>] = [
        .init("refresh", \.posts.refresh, .refresh, "How often posts are fetched, where a source does not say."),
        .init(
            "keep", \.posts.keep, .keep,
            "How long a post is kept after the last fetch that still held it, where a source does not say."
        ),
        .init(
            "sources", .postSources,
            "Where posts come from: a mapping of a name of your choice to the keys of that source."
        ),
    ]
}

extension ConfigurationSchema {
    /// What is said of a key that does not exist: the one that was meant if that is plain, else all that stand there.
    static func advice(for name: String, in section: String, among siblings: [String]) -> String {
        func path(_ name: String) -> String { section.isEmpty ? name : "\(section).\(name)" }
        if let nearest = NearestKey.nearest(to: name, among: siblings) {
            return "did you mean \(path(nearest))?"
        }
        if keys.contains(where: { $0.name == name }) {
            return "it belongs at the top of the file; do not indent it"
        }
        let all = ConfigurationKey.paths(of: keys)
        let parts = name.split(separator: ".")
        if parts.count == 2, all.contains(name) {
            return "write it as \(parts[0]): {\(parts[1]): …}"
        }
        // The keys of a source are few, and no other section is what was meant there.
        let elsewhere = section.hasPrefix("posts.sources.") ? [] : all.filter { $0.hasSuffix("." + name) }
        if let last = elsewhere.last {
            let first = elsewhere.dropLast().joined(separator: ", ")
            return "did you mean \(first.isEmpty ? last : first + " or " + last)?"
        }
        return "valid here: " + siblings.joined(separator: ", ")
    }
}
