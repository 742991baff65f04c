import CLinux
import Glibc
package import NorrisFetchProtocol
package import NorrisProtocol
import NorrisSystem
import NorrisText
package import NorrisThreads
import Synchronization

/// An item in the output of `norris-fetch`.
package protocol FetchedItem: WireObject, Sendable {
    /// The maximum number of items of one process.
    static var maximumCount: Int { get }

    /// Whether norris-fetch makes such an item for a request.
    func isAnswer(to request: FetchRequest) -> Bool
}

/// The program `norris-fetch`, which fetches and decodes what norrisd must not read itself: a process for each
/// document.
package struct FetchProcess: Sendable {
    /// The limits of the output and of a line, in bytes. The longest texts have 100,000 characters.
    fileprivate static let (maximumOutput, maximumLine) = (32 << 20, 4 << 20)
    /// The time that norris-fetch has in addition to the timeout of the request.
    static let grace = Duration.seconds(5)
    /// The longest time of a program of the configuration.
    static let longestProgram = Duration.seconds(30)
    /// The end of a program's standard error that is kept, in bytes.
    private static let keptError = 4 << 10
    /// The time between two looks at whether a program has ended.
    private static let nextLook = Duration.milliseconds(20)

    /// The possible paths of the program, of which each run takes the first that exists.
    private let paths: [String]
    /// The runs of the schedule, and the requests that users wait for. A thread waits for each process.
    package let threads = BackgroundThreads(maximumThreads: 4)
    private let userThreads = BackgroundThreads(maximumThreads: 2, niceness: 0)

    package init(path paths: String...) { self.paths = paths }

    /// The program beside the running one, or in `../libexec/norrisd`.
    package static func beside(_ executable: String) -> FetchProcess {
        let folder = executable.prefix(executable.count - (executable.split(separator: "/").last?.count ?? 0))
        return FetchProcess(path: "\(folder)norris-fetch", "\(folder)../libexec/norrisd/norris-fetch")
    }

    /// Fetches a document.
    ///
    /// - Parameters:
    ///   - command: a program and its arguments, which prints the document; nil to fetch the document.
    ///   - limit: the longest time, including the wait for a thread; nil for the usual time from the thread on.
    ///   - isAwaited: whether a user waits, as with a limit.
    /// - Throws: also the failure that norris-fetch reports.
    package func fetch<Item: FetchedItem>(
        _ request: FetchRequest, _: Item.Type, from command: [String]? = nil, within limit: Duration? = nil,
        isAwaited: Bool = false
    ) async throws(FetchFailure) -> (head: FetchHead, items: [Item]) {
        var request = request
        request.parent = Int(getpid())
        request.hasDocument = command != nil
        let usual =
            command == nil ? Duration.milliseconds(request.timeout) + FetchProcess.grace : FetchProcess.longestProgram
        let end = limit.map { Deadline(after: $0) }
        let children = Children()
        let threads = isAwaited || limit != nil ? userThreads : threads
        let output = await withTaskCancellationHandler { () async -> Result<(FetchHead, [Item]), FetchFailure> in
            await threads.run { [request] _ in
                let deadline = end ?? Deadline(after: usual)
                return Result { () throws(FetchFailure) in try run(request, command, until: deadline, children) }
            }
        } onCancel: {
            children.kill()
        }
        return try output.get()
    }

    // MARK: Processes

    /// The running processes, which any thread may end.
    private final class Children: Sendable {
        private let state = Mutex((running: [ChildProcess](), isEnded: false))

        /// Starts a process in a new process group.
        func start(
            _ path: String, _ arguments: [String], _ descriptors: [CInt]
        ) throws(SystemError) -> ChildProcess {
            try state.withLock { state throws(SystemError) in
                guard !state.isEnded else { throw SystemError("posix_spawn", code: ECANCELED) }
                let child = try startProgram(
                    path, arguments, environment: FetchProcess.variables, descriptors: descriptors, group: .group)
                state.running.append(child)
                return child
            }
        }

        /// Kills all processes with their groups, and lets no further one start.
        func kill() {
            state.withLock { state in
                state.isEnded = true
                for child in state.running { child.kill() }
            }
        }

        /// Kills all processes, and reaps them.
        func killAndReap() {
            kill()
            for child in state.withLock(\.running) { _ = end(of: child, by: Deadline(after: .zero)) }
        }

        /// Waits for the end of a process, kills its group, and reaps it.
        ///
        /// - Returns: nil if the process did not end in time.
        func end(of child: ChildProcess, by deadline: Deadline) -> ChildProcess.End? {
            let isInTime = child.hasEnded(by: deadline)
            // Before the process is reaped, because no other process may be killed for it.
            state.withLock { $0.running.removeAll { $0 == child } }
            child.kill()
            let end = child.reap(by: Deadline(after: FetchProcess.grace))
            return isInTime ? end : nil
        }
    }

    private func run<Item: FetchedItem>(
        _ request: FetchRequest, _ command: [String]?, until deadline: Deadline, _ children: Children
    ) throws(FetchFailure) -> (FetchHead, [Item]) {
        // The last one closes when the program has ended.
        let (input, output, error, writer) = try (makePipe(), makePipe(), makePipe(), makePipe())
        let path = paths.first { access($0, X_OK) == 0 } ?? paths[0]
        let fetch: ChildProcess
        var program: ChildProcess?
        do throws(SystemError) {
            let null = try openFile("/dev/null", O_RDWR)
            defer { close(null) }
            let line = request.jsonBytes + [UInt8(ascii: "\n")]
            // The buffer of a pipe holds a line of this length (pipe(7)), so that writing it does not block.
            guard line.count <= LineSplitter.maximumRequest else { throw SystemError("write", code: E2BIG) }
            try writeAll(line, to: input.writing)
            // Its standard error could contain anything if a document took over the program.
            fetch = try children.start(path, ["norris-fetch"], [input.reading, output.writing, null, writer.reading])
            if let command {
                program = try children.start(
                    path, ["norris-fetch", "exec", "\(getpid())"] + command, [null, input.writing, error.writing])
            }
        } catch {
            children.killAndReap()
            let message = "\(path) cannot be started: \(error.reason); install norrisd again."
            throw FetchFailure(kind: .decode, message: message, isRetryable: true)
        }
        for pipe in [input, output, error] { pipe.closeWriting() }
        for pipe in [input, writer] { pipe.closeReading() }
        if program == nil { error.closeReading() }

        var reader = OutputReader<Item>(request)
        var complaint: [UInt8] = []
        var failure: FetchFailure?
        while failure == nil, output.reading >= 0 || error.reading >= 0 {
            let running = writer.writing >= 0 ? program : nil
            let next = running == nil ? deadline : deadline.orAfter(FetchProcess.nextLook)
            ProgramPipe.wait(toRead: [output, error], until: next)
            // The time also ends while there is always something to read.
            if deadline.hasPassed { failure = FetchProcess.late }
            let hasEnded = running?.hasEnded() == true
            complaint = (complaint + error.read()).suffix(FetchProcess.keptError)
            if hasEnded {
                // Other processes may hold the pipes of a program that has ended.
                error.closeReading()
                writer.closeWriting()
            }
            do throws(FetchFailure) { try reader.append(output.read()) } catch { failure = failure ?? error }
        }
        // After a failure, nothing is waited for.
        let last = failure == nil ? deadline : Deadline(after: .zero)
        let fetchFailure = FetchProcess.failure(of: children.end(of: fetch, by: last), isComplete: reader.result != nil)
        let programFailure = program.flatMap { program in
            FetchProcess.failure(ofProgram: children.end(of: program, by: last), complaint)
        }
        // The first one is the reason of the others: the one that ended the run, then the program's, because the
        // document of a program that fails is not whole, and last what norris-fetch reports.
        let reported = reader.result?.0.failure
        if let failure = failure ?? programFailure ?? fetchFailure ?? reported { throw failure }
        // SAFETY: Without a result, `fetchFailure` is not nil.
        return reader.result!
    }

    private func makePipe() throws(FetchFailure) -> ProgramPipe {
        do throws(SystemError) { return try ProgramPipe() } catch {
            let message = "norris-fetch cannot be started: \(error.reason)."
            throw FetchFailure(kind: .decode, message: message, isRetryable: true)
        }
    }

    private static let late = FetchFailure(
        kind: .timeout, message: "There was no complete answer in time.", isRetryable: true)

    /// The environment of this process, without the variables that systemd sets for it.
    private static var variables: [String] {
        var variables: [String] = []
        var next = environ
        while let variable = next.pointee {
            let text = String(cString: variable)
            if !["NOTIFY_", "LISTEN_", "WATCHDOG_", "CREDENTIALS_"].contains(where: text.hasPrefix) {
                variables.append(text)
            }
            next += 1
        }
        return variables
    }

    /// The failure of norris-fetch; nil if it succeeded with a complete output.
    private static func failure(of end: ChildProcess.End?, isComplete: Bool) -> FetchFailure? {
        let reason: String
        switch end {
        case nil: return late
        case .exited(0) where isComplete: return nil
        case .exited(let status): reason = "norris-fetch ended with status \(status); see norris-fetch(1)"
        case .killed(SIGXCPU): reason = "it takes more than \(FetchRequest.processorTime) seconds of CPU time"
        case .killed(SIGKILL): reason = "norris-fetch was killed"
        case .killed(let signal):
            let isCrash = [SIGABRT, SIGBUS, SIGILL, SIGSEGV, SIGTRAP].contains(signal)
            reason = "norris-fetch was ended by signal \(signal)" + (isCrash ? ", probably for lack of memory" : "")
        }
        return FetchFailure(kind: .decode, message: "The document cannot be decoded: \(reason).", isRetryable: true)
    }

    /// The failure of a program of the configuration; nil if it succeeded.
    private static func failure(ofProgram end: ChildProcess.End?, _ complaint: [UInt8]) -> FetchFailure? {
        let how: String
        switch end {
        case nil: return late
        case .exited(0): return nil
        case .exited(let status): how = "with status \(status)"
        case .killed(let signal): how = "by signal \(signal)"
        }
        let lines = String(decoding: complaint, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        let last = lines.last.map { ": " + String(sanitizedLine($0).prefix(300)) } ?? "."
        return FetchFailure(kind: .decode, message: "The program ended \(how)\(last)", isRetryable: true)
    }
}

/// Reads the output of norris-fetch as strictly as the requests of a client.
private struct OutputReader<Item: FetchedItem> {
    private let request: FetchRequest
    private var lines = LineSplitter(maximumLength: FetchProcess.maximumLine)
    private var bytes = 0
    private var head: FetchHead?
    private var items: [Item] = []
    private var hasEnded = false

    init(_ request: FetchRequest) { self.request = request }

    /// nil if the output is incomplete.
    var result: (FetchHead, [Item])? {
        guard let head, hasEnded else { return nil }
        return (head, items)
    }

    mutating func append(_ chunk: [UInt8]) throws(FetchFailure) {
        bytes += chunk.count
        guard bytes <= FetchProcess.maximumOutput else { throw OutputReader.tooMuch }
        chunk.withUnsafeBytes { lines.append($0) }
        while let line = lines.next() {
            guard case .line(let text) = line, !hasEnded else { throw OutputReader.broken }
            try text.withRawBytes { bytes throws(FetchFailure) in
                guard let json = try? JSONValue(parsing: bytes) else { throw OutputReader.broken }
                // Every text can be shown.
                let tree = JSON(json: json)
                let sanitized = tree.mapStrings {
                    JSON.multilineMembers.contains($0) ? sanitizedText($1) : sanitizedLine($1)
                }
                guard tree == sanitized else { throw OutputReader.broken }
                try take(json)
            }
        }
    }

    private mutating func take(_ json: JSONValue) throws(FetchFailure) {
        if head == nil {
            guard let head = try? FetchHead(json: json), head.isAnswer(to: request) else {
                throw OutputReader.broken
            }
            // The rest of the document is not read, so that a program cannot write it.
            if head.isCut, let failure = head.failure { throw failure }
            self.head = head
        } else if let end = try? FetchEnd(json: json) {
            guard end.items == items.count else { throw OutputReader.broken }
            hasEnded = true
        } else {
            guard items.count < Item.maximumCount else { throw OutputReader.tooMuch }
            guard let item = try? Item(json: json), item.isAnswer(to: request) else { throw OutputReader.broken }
            items.append(item)
        }
    }

    private static var broken: FetchFailure {
        FetchFailure(kind: .decode, message: "norris-fetch printed something unexpected.", isRetryable: true)
    }

    private static var tooMuch: FetchFailure {
        let limit = "\(FetchProcess.maximumOutput >> 20) MiB or \(Item.maximumCount) items"
        return FetchFailure(kind: .decode, message: "The document has more than \(limit).", isRetryable: true)
    }
}

// MARK: - Heads and items

extension FetchHead {
    /// Whether norris-fetch makes such a head for a request. Limits the values that norrisd stores, shows or sends
    /// again.
    fileprivate func isAnswer(to request: FetchRequest) -> Bool {
        [etag, lastModified].allSatisfy { ($0 ?? "").utf8.count <= 1024 }
            && (title ?? "").unicodeScalars.count <= Post.Limit.name
            && (failure?.message ?? "").utf8.count <= 4096 && (failure?.feeds ?? []).count <= 100
            && (failure?.feeds ?? []).allSatisfy { max($0.url.utf8.count, ($0.title ?? "").utf8.count) <= 4096 }
            && [age, notBefore, skipped, repairs, reply?.pause, failure?.reply?.pause].allSatisfy { ($0 ?? 0) >= 0 }
            && [reply, failure?.reply].allSatisfy { ($0?.host ?? "").utf8.count <= 255 } && failure?.postponed == nil
            && authors.count <= FetchedPost.maximumCount && authors.allSatisfy { $0.isAnswer(to: request) }
            && categories.count <= 1000 && [movedTo, failure?.found?.url].allSatisfy(isOpenable)
            && (failure?.found).map { found in PostSourceKind.addable.contains { $0.rawValue == found.kind } } ?? true
    }
}

extension Fact: FetchedItem {
    package static let maximumCount = 200_000

    package func isAnswer(to request: FetchRequest) -> Bool {
        source == "chucknorris" && (1...200).contains(id.unicodeScalars.count)
            && (1...Fact.maximumLength).contains(text.unicodeScalars.count)
            && categories.allSatisfy(Fact.isCategoryName) && !id.hasPrefix("builtin-") && !id.contains(":")
            && isOpenable(url)
    }
}

extension Gif: FetchedItem {
    package static let maximumCount = 500

    package func isAnswer(to request: FetchRequest) -> Bool {
        Gif.isPossibleID(id) && isOpenable(pageURL)
            && renditions.values.allSatisfy { isOpenable($0.url) && isOpenable($0.mp4) && isOpenable($0.webp) }
    }
}

extension FetchedPost: FetchedItem {
    package static let maximumCount = 2_000

    package func isAnswer(to request: FetchRequest) -> Bool {
        post.isAnswer(to: request) && (key ?? "").utf8.count <= 200
    }
}

extension Post {
    fileprivate func isAnswer(to request: FetchRequest) -> Bool {
        source == request.source && sourceTitle == nil && !isRead && author.isAnswer(to: request) && isWithinLimits
            && id.hasPrefix("\(source):") && id.utf8.count <= 200
            && isOpenable(url) && images.allSatisfy { isOpenable($0.url) }
            && attachments.allSatisfy { isOpenable($0.url) }
            && (links ?? []).allSatisfy { $0.isEmpty || isOpenable($0) }
    }

    private var isWithinLimits: Bool {
        let texts =
            [(text, Limit.text), (markdown, Limit.text), (title, Limit.title)] + tags.map { ($0, Limit.tag) }
            + images.flatMap { [($0.alt, Limit.description), ($0.title, Limit.description)] }
            + attachments.map { ($0.type, Limit.type) }
        return texts.allSatisfy { ($0 ?? "").unicodeScalars.count <= $1 } && tags.count <= Limit.tags
            && images.count <= Limit.images && attachments.count <= Limit.attachments
            && (links ?? []).count <= Limit.links + Limit.attachments
    }
}

extension Post.Author {
    fileprivate func isAnswer(to request: FetchRequest) -> Bool {
        id.hasPrefix("\(request.source):") && id.utf8.count <= 200 && isOpenable(avatarURL)
            && [name, handle ?? ""].allSatisfy { $0.unicodeScalars.count <= Post.Limit.name }
            && (email ?? "").utf8.count <= Post.Limit.email
    }
}

/// Whether an address can be opened, if there is one.
private func isOpenable(_ address: String?) -> Bool {
    address.map { $0.utf8.count <= 4096 && isWebAddress($0) } ?? true
}
