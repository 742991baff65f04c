import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisText
import NorrisThreads
import Synchronization

/// Adds and removes sources of posts on request.
final class SourceAdditions: Sendable {
    private let sources: ConfiguredSources
    private let prefetcher: Prefetcher
    private let settings: Settings
    private let stores: Stores
    private let clock: any WallClock
    /// The path of the configuration file, for messages.
    private let file: String
    private let logger: Logger
    /// The names and addresses of sources that are being added.
    private let pending = Mutex((names: Set<String>(), locks: [String: (lock: AsyncLock, users: Int)]()))

    init(
        sources: ConfiguredSources, prefetcher: Prefetcher, settings: Settings, stores: Stores, clock: any WallClock,
        file: String, logger: Logger
    ) {
        (self.sources, self.prefetcher, self.settings, self.stores) = (sources, prefetcher, settings, stores)
        (self.clock, self.file, self.logger) = (clock, file, logger)
    }

    // MARK: Adding

    /// Adds a source, unless there is one with the same kind and address.
    func add(_ parameters: SourceAdd.Parameters) async throws(ResponseError) -> SourceAdd.Result {
        var new = try checked(parameters)
        // Two requests for one address follow each other, so that the second one finds the source of the first.
        let address = "\(new.kind.rawValue) \(new.url)"
        let lock = pending.withLock { pending in
            let lock = pending.locks[address]?.lock ?? AsyncLock()
            pending.locks[address] = (lock, (pending.locks[address]?.users ?? 0) + 1)
            return lock
        }
        defer {
            pending.withLock { pending in
                let users = (pending.locks[address]?.users ?? 1) - 1
                pending.locks[address] = users > 0 ? (lock, users) : nil
            }
        }
        guard await lock.lock() else { throw .shuttingDown }
        defer { lock.unlock() }
        if let known = sources.current.posts.first(where: { $0.configuration.isSame(as: new) }) {
            return SourceAdd.Result(name: known.name, isAdded: false)
        }
        new.name = try takeName(parameters.sourceName, for: new.url)
        defer { pending.withLock { _ = $0.names.remove(new.name) } }
        guard parameters.waits else {
            try await store(new)
            return SourceAdd.Result(name: new.name, isAdded: true)
        }
        let source = sources.source(new)
        switch await source.fetch() {
        case .fetched: break
        case .failed(let failure): throw refusal(failure, of: new)
        case .postponed(let reason): throw refusal(FetchFailure(kind: reason.kind, message: reason.message), of: new)
        case .cancelled: throw .shuttingDown
        }
        // The schedule counts from this run.
        let policy = source.policy
        await stores.records.write(
            ScheduleRecord(
                lastRunAt: clock.now, settings: policy.settings, upstream: policy.upstream, hadContent: true),
            for: new.name)
        do throws(ResponseError) { try await store(new) } catch {
            _ = try? await source.clear()
            throw error
        }
        return SourceAdd.Result(name: new.name, isAdded: true, items: stores.posts.count(source: new.name))
    }

    private func store(_ new: Configuration.PostSource) async throws(ResponseError) {
        try await sources.add(new)
        logger.notice("source.added", metadata: ["source": "\(new.name)", "kind": "\(new.kind.rawValue)"])
    }

    /// Takes a name until the end of the request. An unused one is made from the host without a chosen one.
    private func takeName(_ chosen: String?, for url: String) throws(ResponseError) -> String {
        let known = sources.current.posts.map(\.name)
        return try pending.withLock { pending throws(ResponseError) in
            guard known.count + pending.names.count < AddedSources.maximum else {
                throw .busy(
                    "There are \(AddedSources.maximum) sources of posts, the largest number.",
                    hint: "Remove one: norrisctl feed remove NAME")
            }
            let taken = pending.names.union(known)
            let name = chosen ?? SourceName.make(url: url, taken: taken)
            guard !taken.contains(name) else {
                throw .invalidParams(
                    "There is a source \(name.quotedForMessage) already.", parameter: "name",
                    hint: "Choose another name, or remove it: norrisctl feed remove \(name)")
            }
            pending.names.insert(name)
            return name
        }
    }

    /// The source as the configuration would have it, checked in the same way.
    private func checked(_ parameters: SourceAdd.Parameters) throws(ResponseError) -> Configuration.PostSource {
        let kind = parameters.kind ?? "feed"
        guard let address = sourceAddress(parameters.url) else {
            throw .invalidParams(
                "\(parameters.url.quotedForMessage) is not an http or https address.", parameter: "url")
        }
        // A user and a password are no part of an address in the configuration, which more people may read.
        let parts = address.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let hasUser = HTTPURL(address)?.userInfo != nil
        let scheme = address.hasPrefix("https:") ? "https://" : "http://"
        let values = [
            ("kind", kind), ("url", hasUser ? scheme + (parts.last ?? "") : address), ("refresh", parameters.refresh),
            ("keep", parameters.keep),
        ]
        var reader = ConfigurationReader(file: "", context: .init(folder: "/", home: nil, checksSystem: false))
        let node = YAMLNode(
            content: .mapping(
                values.compactMap { name, value in
                    value.map { text in
                        let scalar = YAMLScalar(text: text, isPlain: true)
                        return (name, YAMLNode(content: .scalar(scalar), path: name, mark: .init(), keyMark: .init()))
                    }
                }), path: "name", mark: .init(), keyMark: .init())
        let name = parameters.sourceName ?? "feed"
        var source = reader.readSource(name, node, inheriting: settings.configuration.posts)
        if let fault = reader.faults.first {
            let key = fault.key ?? "url"
            throw .invalidParams("\(key): \(fault.message).", parameter: key)
        }
        if hasUser {
            source.url = scheme + (parts.first ?? "").dropFirst(scheme.count) + "@" + source.url.dropFirst(scheme.count)
        }
        (source.isAdded, source.ownRefresh, source.ownKeep) = (true, parameters.refresh != nil, parameters.keep != nil)
        return source
    }

    /// The reply to a request whose first run has failed.
    private func refusal(_ failure: FetchFailure, of new: Configuration.PostSource) -> ResponseError {
        guard let feeds = failure.feedURLs else {
            let error = SourceFailure(kind: failure.kind, message: failure.message, since: clock.now)
            var refusal = ResponseError.nothingCached(failure.message, source: new.name, lastError: error)
            refusal.hint = "Nothing was added."
            return refusal
        }
        var refusal = ResponseError.invalidParams(
            "\(new.shownURL) is a web page, so nothing was added.", parameter: "url",
            hint: feeds.isEmpty ? "It names no feed." : "Its feeds: \(feeds.joined(separator: " "))")
        refusal.details["feed_urls"] = .array(feeds.map(JSON.string))
        return refusal
    }

    // MARK: Removing

    /// Removes an added source with its posts.
    ///
    /// - Returns: whether there was one.
    func remove(_ name: String) async throws(ResponseError) -> Bool {
        guard let source = sources.current.posts.first(where: { $0.name.hasSameBytes(as: name) }) else { return false }
        guard source.configuration.isAdded else {
            throw .invalidParams(
                "The source \(name) is in the configuration.", parameter: "name", hint: "Remove it from \(file).")
        }
        try await sources.remove(name)
        _ = try? await source.clear()
        logger.notice("source.removed", metadata: ["source": "\(name)"])
        return true
    }
}

extension Configuration.PostSource {
    /// Whether two sources have the same upstream.
    fileprivate func isSame(as other: Self) -> Bool { kind == other.kind && url.hasSameBytes(as: other.url) }

    /// The URL for users, without a user, a password and a query, which may contain a secret.
    var shownURL: String {
        guard var parts = HTTPURL(url) else { return String(url.prefix { !"?#".contains($0) }) }
        if parts.userInfo == nil, parts.query == nil { return url }
        (parts.userInfo, parts.query) = (nil, nil)
        return parts.description
    }
}
