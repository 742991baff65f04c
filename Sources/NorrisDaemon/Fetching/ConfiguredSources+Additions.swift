import Logging
import NorrisFetchProtocol
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisText
import NorrisThreads
import Synchronization

/// Adding, changing and removing sources of posts on request.
extension ConfiguredSources {
    /// The end of a change of the sources.
    private enum Change<Result> {
        case done(Result)
        /// The address represents another source, so that nothing was changed.
        case found(FoundSource)
    }

    /// Adds a source, unless there is one with the same kind and address.
    ///
    /// - Parameters:
    ///   - file: the configuration file, for messages.
    ///   - isFound: whether the address is the result of such a search, which is not repeated.
    func add(
        _ parameters: SourceAdd.Parameters, besides file: String, isFound: Bool = false
    ) async throws(ResponseError) -> SourceAdd.Result {
        let added = try checked(parameters)
        let change = try await withSource(at: try source(added).settings) { known throws(ResponseError) in
            if let known { return Change.done(SourceAdd.Result(name: known.name, isAdded: false)) }
            return try await addNew(added, parameters, besides: file, isFound: isFound)
        }
        switch change {
        case .done(let result): return result
        case .found(let found):
            var other = parameters
            (other.settings.url, other.settings.kind) = (found.url, found.kind)
            return try await add(other, besides: file, isFound: true)
        }
    }

    /// Runs a request with the source at an address. Two requests for one address follow each other, so that the second
    /// one finds the source of the first.
    private func withSource<Result>(
        at address: [String], _ body: (PostSource?) async throws(ResponseError) -> Result
    ) async throws(ResponseError) -> Result {
        let lock = pending.withLock { pending in
            let lock = pending.locks[address] ?? AsyncLock()
            pending.locks[address] = lock
            return lock
        }
        guard await lock.lock() else { throw .shuttingDown }
        defer {
            lock.unlock()
            pending.withLock { if !lock.isLocked { $0.locks[address] = nil } }
        }
        return try await body(current.posts.first { $0.settings == address })
    }

    private func addNew(
        _ added: AddedSource, _ parameters: SourceAdd.Parameters, besides file: String, isFound: Bool
    ) async throws(ResponseError) -> Change<SourceAdd.Result> {
        var added = added
        let name = try takeName(parameters.sourceName, for: added.settings.url, besides: file)
        defer { pending.withLock { _ = $0.names.remove(name) } }
        added.name = name
        let source = try source(added)
        let identity = source.policy.settings
        try await stores.added.prepare(name, identity: identity)
        // A source of the configuration with this name may have left posts.
        _ = try? await source.clear()
        let first: Change<(added: Int, newest: [Event.NewItem])>?
        func undo() async {
            _ = try? await source.clear()
            _ = try? await stores.added.remove(name, identity: identity)
        }
        do throws(ResponseError) {
            let kinds = parameters.settings.kind.map { [$0] } ?? PostSourceKind.addable.map(\.rawValue)
            first = parameters.waits ? try await fetchFirst(source, mayFind: isFound ? [] : kinds) : nil
            if case .found(let found) = first {
                await undo()
                return .found(found)
            }
            try await store(source, added)
        } catch {
            await undo()
            throw error
        }
        guard case .done(let run) = first else { return .done(SourceAdd.Result(name: name, isAdded: true)) }
        // Only now, because no client knows a source that is not added.
        prefetcher.announceRun(of: name, added: run.added, newest: run.newest)
        return .done(SourceAdd.Result(name: name, isAdded: true, items: stores.posts.count(source: name)))
    }

    /// Fetches a source for the first time, and returns what is new. The schedule counts from this run.
    ///
    /// - Parameter kinds: the kinds of another source that the address may represent.
    private func fetchFirst(
        _ source: PostSource, mayFind kinds: [String]
    ) async throws(ResponseError) -> Change<(added: Int, newest: [Event.NewItem])> {
        var awaited = source
        awaited.isAwaited = true
        let outcome: FetchOutcome
        do { outcome = try await awaited.run(stores.records.beginImport(of: source.name)) } catch {
            if Task.isCancelled { throw .shuttingDown }
            // The disk has failed, and not the upstream.
            guard let failure = error as? FetchFailure else { throw .cacheNotWritable }
            if let found = failure.found, kinds.contains(found.kind) { return .found(found) }
            throw refusal(failure, of: source, isNew: current[source.name] == nil)
        }
        guard case .fetched(let added, let newest, _) = outcome else { throw .shuttingDown }
        let policy = source.policy
        let record = ScheduleRecord(
            lastRunAt: clock.now, settings: policy.settings, upstream: policy.upstream, hadContent: true)
        await stores.records.write(record, for: source.name)
        return .done((added, newest))
    }

    /// Stores a new source, which is fetched from now on.
    private func store(_ new: PostSource, _ added: AddedSource) async throws(ResponseError) {
        guard await changing.lock() else { throw .shuttingDown }
        defer { changing.unlock() }
        try await stores.added.add(added)
        // A configuration that was read meanwhile may have a source with the name.
        if current[new.name] == nil { await replace(Sources(current, posts: current.posts + [new])) }
        context.logger.notice("source.added", metadata: ["source": "\(new.name)", "kind": "\(new.kind)"])
    }

    /// Takes a name until the end of the request. An unused one is made from the host without a chosen one.
    private func takeName(
        _ chosen: String?, for url: String, besides file: String
    ) throws(ResponseError) -> String {
        let known = current.postNames
        let isOfFile = current.posts.contains { $0.name == chosen && $0.configuration.added == nil }
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
                    hint: "Choose another name, or remove it"
                        + (isOfFile ? " from \(file)." : ": norrisctl feed remove \(name)"))
            }
            pending.names.insert(name)
            return name
        }
    }

    /// The source without its name.
    private func checked(_ parameters: SourceAdd.Parameters) throws(ResponseError) -> AddedSource {
        var settings = parameters.settings
        settings.url = try checked(settings.url)
        settings.unread = settings.unread ?? SourceSettings.defaultUnread
        if let name = parameters.sourceName, let refusal = SourceName.refusal(of: name) {
            throw .invalidParams("The name \(name.quotedForMessage) \(refusal).", parameter: "name")
        }
        return AddedSource(name: "", settings: settings)
    }

    private func checked(_ url: String) throws(ResponseError) -> String {
        if let address = sourceAddress(url) { return address }
        throw .invalidParams("\(url.quotedForMessage) is not an http or https address.", parameter: "url")
    }

    /// A source by the configuration in force.
    private func source(_ added: AddedSource) throws(ResponseError) -> PostSource {
        let configuration = settings.configuration
        let new = try Configuration.PostSource(added, inheriting: configuration.posts)
        return PostSource(configuration: new, http: configuration.http, context: context)
    }

    /// The reply to a request whose first run has failed.
    private func refusal(_ failure: FetchFailure, of new: PostSource, isNew: Bool) -> ResponseError {
        let change = isNew ? "added" : "changed"
        guard let feeds = failure.feeds else {
            let retryAt = failure.postponed.map { clock.now.advanced(by: .seconds($0)) }
            let error = SourceFailure(
                kind: failure.kind, message: failure.message, since: clock.now, retryAt: retryAt)
            var refusal = ResponseError.nothingCached(failure.message, source: new.name, lastError: error)
            refusal.hint = "Nothing was \(change)."
            return refusal
        }
        var refusal = ResponseError.invalidParams(
            "\(shownURL(new.configuration.url)) is a web page, so nothing was \(change).", parameter: "url",
            hint: feeds.isEmpty ? "It names no feed." : "Its feeds: \(feeds.map(\.url).joined(separator: " "))")
        refusal.details["feed_urls"] = .array(feeds.map { .string($0.url) })
        refusal.details["feed_titles"] = .array(feeds.map { .string($0.title ?? "") })
        return refusal
    }

    /// Changes settings of an added source. A new address is fetched first.
    ///
    /// - Parameters:
    ///   - file: the configuration file, for messages.
    ///   - isFound: whether the address is the result of such a search, which is not repeated.
    func edit(
        _ parameters: SourceEdit.Parameters, notOf file: String, isFound: Bool = false
    ) async throws(ResponseError) -> NoMembers {
        var parameters = parameters
        parameters.url = try parameters.url.map { url throws(ResponseError) in try checked(url) }
        let (old, new) = try changed(parameters, notOf: file)
        guard new.settings != old.settings else {
            try await store(parameters, notOf: file)
            return NoMembers()
        }
        let change = try await withSource(at: new.settings) { other throws(ResponseError) in
            if let other {
                throw .invalidParams("The source \(other.name) has this address.", parameter: "url")
            }
            // A run of the old address ends first.
            let lock = prefetcher.lock(of: old.name)
            guard await lock.lock() else { throw .shuttingDown }
            defer { lock.unlock() }
            let first = try await fetchFirst(new, mayFind: isFound ? [] : [new.kind])
            guard case .done(let run) = first else { return first }
            try await store(parameters, notOf: file)
            prefetcher.announceRun(of: new.name, added: run.added, newest: run.newest)
            return first
        }
        guard case .found(let found) = change else { return NoMembers() }
        parameters.url = found.url
        return try await edit(parameters, notOf: file, isFound: true)
    }

    /// An added source before and after a change.
    private func changed(
        _ parameters: SourceEdit.Parameters, notOf file: String
    ) throws(ResponseError) -> (old: PostSource, new: PostSource) {
        guard let old = try addedSource(parameters.sourceName, elseEdit: file),
            let stored = old.configuration.added
        else { throw current.unknown(parameters.sourceName, ofPosts: true) }
        guard let settings = parameters.changed(stored.settings) else {
            throw .invalidParams("Name at least one setting to change.", parameter: "url")
        }
        return (old, try source(AddedSource(name: old.name, settings: settings)))
    }

    /// Stores a change, which counts from now on.
    private func store(_ parameters: SourceEdit.Parameters, notOf file: String) async throws(ResponseError) {
        guard await changing.lock() else { throw .shuttingDown }
        defer { changing.unlock() }
        // Another request may have changed other settings meanwhile.
        let (old, new) = try changed(parameters, notOf: file)
        // SAFETY: `source(_:)` makes it of an added source.
        try await stores.added.change(new.configuration.added!)
        if new.settings != old.settings {
            // The schedule begins again with the record of the first fetch.
            await schedule(Sources(current, posts: current.posts.filter { $0.name != new.name }))
        }
        await replace(Sources(current, posts: current.posts.map { $0.name == new.name ? new : $0 }))
        // A feed that was gone is asked once more.
        if prefetcher.schedule(of: new.name)?.isGone == true {
            try? prefetcher.refresh(new.name, isAdministrator: true)
        }
        context.logger.notice("source.changed", metadata: ["source": "\(new.name)"])
    }

    /// The added source with a name; nil if there is none.
    ///
    /// - Throws: `-32602` for a source of the configuration.
    private func addedSource(_ name: String, elseEdit file: String) throws(ResponseError) -> PostSource? {
        let source = current.posts.first { $0.name.hasSameBytes(as: name) }
        guard source.map({ $0.configuration.added == nil }) ?? false else { return source }
        throw .invalidParams("The source \(name) is in the configuration.", parameter: "name", hint: "Edit \(file).")
    }

    /// Removes an added source with its posts.
    ///
    /// - Parameter file: the configuration file, for messages.
    /// - Returns: whether there was one.
    func remove(_ name: String, notOf file: String) async throws(ResponseError) -> Bool {
        guard await changing.lock() else { throw .shuttingDown }
        defer { changing.unlock() }
        guard let source = try addedSource(name, elseEdit: file) else { return false }
        try await stores.added.remove(name, identity: source.policy.settings)
        await replace(Sources(current, posts: current.posts.filter { $0.name != name }))
        _ = try? await source.clear()
        context.logger.notice("source.removed", metadata: ["source": "\(name)"])
        return true
    }
}

/// A URL for users, without a user, a password and a query, which may contain a secret.
func shownURL(_ url: String) -> String {
    guard var parts = HTTPURL(url) else { return String(url.prefix { !"?#".contains($0) }) }
    if parts.userInfo == nil, parts.query == nil { return url }
    (parts.userInfo, parts.query) = (nil, nil)
    return parts.description
}
