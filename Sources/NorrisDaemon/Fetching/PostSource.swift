import Logging
import NorrisFetchProtocol
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisText
import NorrisThreads

/// One entry of `posts.sources` of any kind.
struct PostSource: ContentSource {
    /// The name of the request in the stored validators. A repaired reply has another name, so that a later 304 is
    /// known to confirm a repaired reply. The number rises if documents are decoded otherwise, so that one that has not
    /// changed is fetched again.
    static func part(isRepaired: Bool) -> String { isRepaired ? "posts.4.repaired" : "posts.4" }

    let configuration: Configuration.PostSource
    let http: Configuration.HTTP
    let context: SourceContext
    /// nil without a `headers_file`.
    var headers: HeadersFile?
    /// Whether a user waits for the runs.
    var isAwaited = false

    var name: String { configuration.name }
    var kind: String { configuration.kind.rawValue }
    var isEnabled: Bool { configuration.enabled }
    var unavailableReason: SourceFailure? { headers?.failure }
    var url: String {
        configuration.kind == .exec ? "exec:\(configuration.command.joined(separator: " "))" : configuration.url
    }
    var refresh: Duration { configuration.refresh }
    /// Equal for the same document: URLs are compared as URLs, not as texts.
    var settings: [String] { [kind, HTTPURL(url)?.description ?? url] }

    func clear() async throws(StoreError) -> Int { try await stores.posts.clear(source: name) }

    func run(_ run: SourceImport) async throws -> FetchOutcome {
        let last = await lastFetch
        let repaired = last?.parts[PostSource.part(isRepaired: true)]
        let (head, posts): (FetchHead, [FetchedPost])
        do throws(FetchFailure) {
            (head, posts) = try await self.posts(unless: repaired ?? last?.parts[PostSource.part(isRepaired: false)])
        } catch {
            // Only answers with a feed show that it has moved.
            if var last, last.move != nil, error.reply != nil {
                last.move = nil
                try await run.confirm(last)
            }
            throw error
        }
        let move = FetchRecord.Move(to: head.movedTo, after: last?.move, at: now)
        if head.isUnchanged {
            try await stores.posts.confirm(
                run, keep: repaired == nil ? configuration.keep : nil,
                fetch: record(head, isRepaired: repaired != nil, last?.title, move), at: now)
            return .fetched(added: 0, head)
        }
        if posts.isEmpty, head.skipped > 0 {
            throw FetchFailure.unusable("The source \(name) answered with \(head.skipped) posts, none of them usable.")
        }
        // No validators are stored for a truncated reply, so that the next request fetches the missing posts.
        var kept = head
        if head.isCut { (kept.etag, kept.lastModified) = (nil, nil) }
        let isPartial = head.repairs > 0
        let changes = try await stores.posts.replace(
            run, posts: posts, authors: head.authors, isComplete: head.skipped == 0 && !isPartial,
            keep: isPartial ? nil : configuration.keep, fetch: record(kept, isRepaired: isPartial, head.title, move),
            unread: configuration.unread, articles: configuration.article == true ? PostSource.articlesAtOnce : 0,
            at: now)
        if !changes.waiting.isEmpty { context.prefetcher.follow(name) { await publish(changes.waiting, run) } }
        var metadata: Logger.Metadata = [
            "source": "\(name)", "added": "\(changes.added)", "changed": "\(changes.changed)",
            "expired": "\(changes.removed)", "skipped": "\(head.skipped)",
        ]
        if isPartial { metadata["feed.repairs"] = "\(head.repairs)" }
        context.logger.info("posts.fetched", metadata: metadata)
        return .fetched(added: changes.added, newest: changes.newest, head)
    }

    /// The largest number of posts that wait for their articles.
    static let articlesAtOnce = 50

    /// Fetches the articles of new posts, one after the other, and publishes each post.
    private func publish(_ posts: [WaitingPost], _ run: SourceImport) async {
        // The articles of the last run come first.
        let lock = context.prefetcher.lock(of: "articles of \(name)")
        defer { for post in posts { stores.posts.stopWaiting(post, of: name) } }
        guard await lock.lock() else { return }
        defer { lock.unlock() }
        for post in posts {
            var article: Post?
            do {
                if http.hostGap > .zero { try await context.environment.clock.sleep(for: http.hostGap) }
                article = try await self.article(of: post.item.post)
            } catch {
                if Task.isCancelled { return }
                context.logger.info(
                    "article.failed",
                    metadata: ["post": "\(post.item.post.id)", "error": "\(FetchFailure(error).message)"])
            }
            guard let changes = try? await stores.posts.publish(post, run, with: article, at: now) else { return }
            context.prefetcher.announce(changes.newest, added: changes.added, of: name)
        }
    }

    /// The article of a post's page: a post whose text and pictures count.
    ///
    /// - Parameter isAwaited: whether a user waits, so that the page is fetched at once.
    func article(of post: Post, isAwaited: Bool = false) async throws(FetchFailure) -> Post {
        let request = articleRequest(for: post)
        let article =
            isAwaited
            ? try await context.environment.fetch.fetch(request, FetchedPost.self, isAwaited: true).items.first?.post
            : try await context.fetch(request, FetchedPost.self).items.first?.post
        guard let article, article.text?.utf8.count ?? 0 >= post.text?.utf8.count ?? 0 else {
            throw .unusable("\(shownURL(request.url)) has less text than the post; open it in a browser.")
        }
        return article
    }

    /// The request for a post's page.
    func articleRequest(for post: Post) -> FetchRequest {
        var request = request(.article)
        request.url = post.url ?? ""
        // The page is checked as a redirect of the feed. A program has no host, so its posts lead to public pages.
        request.feed = configuration.kind == .exec ? "https://invalid" : configuration.url
        request.userAgent = configuration.userAgent ?? http.userAgent
        let (page, feed) = (HTTPURL(request.url), HTTPURL(configuration.url))
        let isSameHost = page?.authority == feed?.authority && page?.scheme == feed?.scheme
        request.headers = isSameHost ? headers?.fields ?? [] : []
        return request
    }

    private func posts(unless part: PartRecord?) async throws(FetchFailure) -> (FetchHead, [FetchedPost]) {
        let command = configuration.kind == .exec ? configuration.command : nil
        var request = request(configuration.kind.document).unless(part)
        (request.asksPastCaches, request.isPasted) = (true, isAwaited)
        request.userAgent = configuration.userAgent ?? http.userAgent
        request.headers = headers?.fields ?? []
        // Relative addresses in the output of a program lead nowhere.
        if command != nil { request.url = "http://localhost/" }
        return try await context.fetch(request, FetchedPost.self, from: command, isAwaited: isAwaited)
    }

    private func record(
        _ head: FetchHead, isRepaired: Bool, _ title: String?, _ move: FetchRecord.Move?
    ) -> FetchRecord {
        let parts = [PostSource.part(isRepaired: isRepaired): PartRecord(head, at: now)]
        return newRecord(head, parts: parts, title: title, move: move)
    }
}
