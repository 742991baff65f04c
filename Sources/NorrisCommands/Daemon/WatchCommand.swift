import Glibc
import NorrisArguments
import NorrisClient
import NorrisProtocol
import NorrisSystem
import NorrisTerminal

struct WatchCommand: SessionCommand {
    static let name = "watch"
    static let help = CommandHelp(
        "Follow what norrisd does.",
        """
        Prints fetches, reloads and new items until Ctrl-C, or until norrisd stops. --timeout limits only the
        wait for the connection. On a terminal times are local, and the titles of new items follow.

        --new prints each new post once, as norrisctl feed does in a pipe, and --unread the number of your unread posts
        now and after each change. Both wait for norrisd when it restarts. With --cursor-file, --new goes on after the
        last printed post; a post whose printing was interrupted may be printed again.

        Tab-separated in a pipe: time in UTC, source, event.

        Examples:
          norrisctl watch
          norrisctl watch --new --tag work --cursor-file ~/.cache/work.cursor
          norrisctl watch --unread
          norrisctl watch --json | jq -r 'select(.phase == "failed") | .source'
        """)

    private var isNew = false, isUnread = false
    private var source: String?, tag: String?
    private var cursorFile: String?

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.flag(&isNew, "new", "Print each new post, and nothing else.")
        arguments.sources(&source, &tag, prefix: "With --new: only")
        arguments.option(&cursorFile, "cursor-file", .file, "With --new: go on where the watch with this file ended.")
        arguments.flag(&isUnread, "unread", "Print the number of your unread posts, and nothing else.")
    }

    func validate(_ settings: Settings) throws(UsageError) {
        try refuse(source: source, tag: tag)
        if isNew, isUnread { throw UsageError("Choose one of --new and --unread.") }
        let options = optionWords(("--source", source), ("--tag", tag), ("--cursor-file", cursorFile))
        if !isNew, let option = options.first { throw UsageError("\(option) is for --new.") }
        if isUnread, settings.format != nil { throw UsageError("--unread prints numbers: leave out --format.") }
    }

    func run(in session: Session) throws(Failure) -> Report {
        if isNew { return try watchNew(session) }
        if isUnread { return try watchUnread(session) }
        try session.settings.format?.check(Event.schema)
        var (isStopping, width) = (false, 0)
        let end = try session.follow((EventSubscribe.name, EventSubscribe.Parameters())) { incoming throws(Failure) in
            // Hides the waiting message, because the next event may be hours away.
            session.system.waiting.hide()
            guard case .event(let params, let event) = incoming else {
                session.sayThatItWaits()
                return .goOn(within: nil)
            }
            isStopping = event.topic == .server && event.phase == .stopping
            let time = event.at.localText("%H:%M:%S")
            let report = session.report(params, schema: Event.schema) { $0.event(event, time: time, width: &width) }
            return try session.write(report.output) ? .goOn(within: nil) : .stop
        }
        guard let end else { return Report() }
        guard isStopping, case .closed = end else { throw session.lost(end) }
        var report = Report()
        report.note("norrisd has stopped.")
        return report
    }

    /// Prints each new post. An event only says that the list may have grown.
    private func watchNew(_ session: Session) throws(Failure) -> Report {
        try session.settings.format?.check(Post.schema)
        let session = session.with { $0.plain = true }
        var cursor = try cursorFile.flatMap { file throws(Failure) in try session.readCursor(file) }
        var (isAsking, hasEvent) = (true, false)
        func request() -> PostList.Parameters {
            // Each line of a file's watch needs its own cursor.
            let page = PageRequest(limit: cursorFile == nil ? 100 : 1, cursor: cursor)
            return PostList.Parameters(source: source, tag: tag, order: .arrived, page: page)
        }
        func ask() -> FollowStep {
            (isAsking, hasEvent) = (true, false)
            return .send(Session.line(PostList.name, request(), id: 2))
        }
        return try follow(session, [.item, .source], { (PostList.name, request()) }) { incoming throws(Failure) in
            switch incoming {
            case .result(_, id: 1):
                isAsking = true
                session.sayThatItWaits()
            case .result(let json, id: 2):
                let page = try session.read(.success(json), of: PostList.self).value
                for post in page.items {
                    let report = session.report(EncodedJSON(post), schema: Post.schema) {
                        $0.feed([post], numberedFrom: nil, session)
                    }
                    guard try session.write(report.output) else { return .stop }
                }
                if let cursorFile, let next = page.next, next != cursor {
                    try session.write(cursor: next, after: cursor, toFile: cursorFile)
                }
                cursor = page.next ?? cursor
                if !page.items.isEmpty || hasEvent { return ask() }
                isAsking = false
            case .event(_, let event) where event.topic == .item || event.phase == .failed:
                if !isAsking { return ask() }
                hasEvent = true
            default: break
            }
            return .goOn(within: nil)
        }
    }

    private func watchUnread(_ session: Session) throws(Failure) -> Report {
        var shown: Int?
        return try follow(session, [.read], { (PostSources.name, NoMembers()) }) { incoming throws(Failure) in
            let unread: Int?
            switch incoming {
            case .result(let json, id: 2):
                let sources = try session.read(.success(json), of: PostSources.self).value.items
                unread = sources.reduce(0) { $0 + $1.unread }
            case .event(_, let event): unread = event.unread
            default: unread = nil
            }
            guard let unread, unread != shown else { return .goOn(within: nil) }
            shown = unread
            return try session.write(Array("\(unread)\n".utf8)) ? .goOn(within: nil) : .stop
        }
    }

    /// Subscribes and sends a request, again and again when the daemon restarts, until the output has no reader.
    private func follow(
        _ session: Session, _ topics: [Event.Topic], _ request: () -> (String, any JSONEncodable),
        receive: (Incoming) throws(Failure) -> FollowStep
    ) throws(Failure) -> Report {
        var hasBegun = false
        while true {
            do throws(Failure) {
                // Each connection has the whole time.
                let attempt = Session(settings: session.settings, system: session.system)
                let subscription = (EventSubscribe.name, EventSubscribe.Parameters(topics: topics) as any JSONEncodable)
                let end = try attempt.follow(subscription, request()) { incoming throws(Failure) in
                    session.system.waiting.hide()
                    hasBegun = true
                    return try receive(incoming)
                }
                if end == nil { return Report() }
            } catch {
                if error.status == .usage, let cursorFile {
                    throw Failure(
                        .usage, "The cursor in \(cursorFile.quotedForMessage) is for other options or another norrisd.",
                        hint: "Delete the file to begin with the posts that arrive from now on.")
                }
                guard hasBegun, [.unavailable, .temporary].contains(error.status) else { throw error }
            }
            session.system.pause(.seconds(1))
        }
    }
}

extension Session {
    /// Tells a user at a terminal that nothing may be shown for a long time.
    fileprivate func sayThatItWaits() {
        if system.terminal.isTerminal { writeError("Waiting for events. Ctrl-C ends.") }
    }

    /// Reads the cursor of a file; nil if there is no file, or an empty one.
    fileprivate func readCursor(_ file: String) throws(Failure) -> String? {
        do throws(SystemError) {
            let line = String(decoding: try system.readFile(file, 4_096), as: UTF8.self).prefix { !$0.isNewline }
            return line.isEmpty ? nil : String(line)
        } catch {
            if error.code == ENOENT { return nil }
            throw Failure(.inputOutput, "\(file.quotedForMessage) cannot be read: \(error.reason).")
        }
    }

    /// Replaces the cursor of a file, unless another program has done so.
    fileprivate func write(cursor: String, after last: String?, toFile file: String) throws(Failure) {
        guard try readCursor(file) == last else {
            throw Failure(
                .inputOutput, "\(file.quotedForMessage) was changed by another program.",
                hint: "Give each watch its own file.")
        }
        try write(Array("\(cursor)\n".utf8), toFile: file)
    }
}
