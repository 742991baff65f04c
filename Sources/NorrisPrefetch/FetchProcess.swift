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
        let begin = ContinuousClock.now
        let children = Children()
        let threads = isAwaited || limit != nil ? userThreads : threads
        let output = await withTaskCancellationHandler { () async -> Result<(FetchHead, [Item]), FetchFailure> in
            await threads.run { [request] _ in
                let deadline = limit.map { begin + $0 } ?? .now + usual
                return Result { () throws(FetchFailure) in try run(request, command, until: deadline, children) }
            }
        } onCancel: {
            children.end()
        }
        return try output.get()
    }

    // MARK: Processes

    /// The running processes, which any thread may end.
    private final class Children: Sendable {
        private let state = Mutex((pids: [pid_t](), isEnded: false))

        /// Starts a process in a new process group.
        func start(
            _ path: String, _ arguments: [String], _ descriptors: [CInt]
        ) throws(SystemError) -> pid_t {
            try state.withLock { state throws(SystemError) in
                guard !state.isEnded else { throw SystemError("posix_spawn", code: ECANCELED) }
                let pid = try startProgram(
                    path, arguments, environment: FetchProcess.variables, descriptors: descriptors, group: .group)
                state.pids.append(pid)
                return pid
            }
        }

        /// Ends all processes with their groups.
        func end() {
            state.withLock { state in
                state.isEnded = true
                for pid in state.pids { Children.end(pid) }
            }
        }

        /// Ends all processes, and reaps them.
        func endAll() {
            end()
            for pid in state.withLock(\.pids) { _ = status(of: pid, by: .now) }
        }

        /// Waits for the end of a process, ends its group, and returns its status (waitpid(2)).
        ///
        /// - Returns: nil if the process did not end in time.
        func status(of pid: pid_t, by deadline: ContinuousClock.Instant) -> CInt? {
            let isInTime = Children.hasEnded(pid, by: deadline)
            // Before the process is reaped, after which another process may get the number.
            state.withLock { $0.pids.removeAll { $0 == pid } }
            Children.end(pid)
            // A process that waits inside the kernel ends later, and is not reaped.
            var status: CInt = 0
            guard Children.hasEnded(pid, by: .now + FetchProcess.grace), waitpid(pid, &status, WNOHANG) == pid else {
                return nil
            }
            return isInTime ? status : nil
        }

        /// Ends a process that is not reaped, and its group, which it may have left.
        private static func end(_ pid: pid_t) {
            kill(-pid, SIGKILL)
            kill(pid, SIGKILL)
        }

        /// Waits for the end of a process without reaping it. Asks again and again, because some containers refuse
        /// pidfd_open(2).
        static func hasEnded(_ pid: pid_t, by deadline: ContinuousClock.Instant) -> Bool {
            var end = siginfo_t()
            while waitid(P_PID, id_t(pid), &end, WEXITED | WNOHANG | WNOWAIT) == 0, end.si_signo == 0 {
                guard ContinuousClock.now < deadline else { return false }
                poll(nil, 0, 2)
            }
            return true
        }
    }

    private func run<Item: FetchedItem>(
        _ request: FetchRequest, _ command: [String]?, until deadline: ContinuousClock.Instant, _ children: Children
    ) throws(FetchFailure) -> (FetchHead, [Item]) {
        // The last one closes when the program has ended.
        let (input, output, error, writer) = try (Pipe(), Pipe(), Pipe(), Pipe())
        let path = paths.first { access($0, X_OK) == 0 } ?? paths[0]
        let fetch: pid_t
        var program: pid_t?
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
            children.endAll()
            let message = "\(path) cannot be started: \(error.reason); install norrisd again."
            throw FetchFailure(kind: .decode, message: message, isRetryable: true)
        }
        for pipe in [input, output, error] { pipe.closeWriting() }
        for pipe in [input, writer] { pipe.closeReading() }

        var reader = OutputReader<Item>(request)
        var complaint: [UInt8] = []
        var (hasOutput, hasError) = (true, program != nil)
        var failure: FetchFailure?
        while failure == nil, hasOutput || hasError {
            let open = [hasOutput ? output.reading : -1, hasError ? error.reading : -1]
            let runs = program != nil && writer.writing >= 0
            FetchProcess.wait(for: open, until: runs ? min(deadline, .now + FetchProcess.nextLook) : deadline)
            // The time also ends while there is always something to read.
            if ContinuousClock.now >= deadline { failure = FetchProcess.late }
            let hasEnded = runs && program.map { Children.hasEnded($0, by: .now) } ?? false
            if hasError, let bytes = error.read() {
                hasError = !bytes.isEmpty
                complaint = (complaint + bytes).suffix(FetchProcess.keptError)
            }
            if hasEnded {
                // Other processes may hold the pipes of a program that has ended.
                hasError = false
                writer.closeWriting()
            }
            do throws(FetchFailure) {
                if hasOutput, let bytes = output.read() {
                    if bytes.isEmpty { hasOutput = false } else { try reader.append(bytes) }
                }
            } catch {
                failure = failure ?? error
            }
        }
        // After a failure, nothing is waited for.
        let last = failure == nil ? deadline : .now
        let status = children.status(of: fetch, by: last)
        let programStatus = program.map { children.status(of: $0, by: last) }
        // Of several failures, the first one here is the reason of the others: the one that ended the run, then the
        // program's, because the document of a program that fails is not whole, and last what norris-fetch reports.
        if let failure { throw failure }
        if let programStatus, programStatus != 0 { throw FetchProcess.failure(ofProgram: programStatus, complaint) }
        guard status == 0, let (head, items) = reader.result else { throw FetchProcess.failure(of: status) }
        if let failure = head.failure { throw failure }
        return (head, items)
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

    /// The failure of a process that ended without a complete output.
    private static func failure(of status: CInt?) -> FetchFailure {
        guard let status else { return late }
        let reason =
            switch status & 0x7F {
            case 0: "norris-fetch ended with status \(status >> 8 & 0xFF); see norris-fetch(1)"
            case SIGXCPU: "it takes more than 3 seconds of CPU time"
            case SIGKILL: "norris-fetch was killed"
            case SIGABRT, SIGBUS, SIGILL, SIGSEGV, SIGTRAP:
                "norris-fetch was ended by signal \(status & 0x7F), probably for lack of memory"
            default: "norris-fetch was ended by signal \(status & 0x7F)"
            }
        return FetchFailure(kind: .decode, message: "The document cannot be decoded: \(reason).", isRetryable: true)
    }

    private static func failure(ofProgram status: CInt?, _ complaint: [UInt8]) -> FetchFailure {
        guard let status else { return late }
        let how = status & 0x7F == 0 ? "with status \(status >> 8 & 0xFF)" : "by signal \(status & 0x7F)"
        let lines = String(decoding: complaint, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        let last = lines.last.map { ": " + String(sanitizedLine($0).prefix(300)) } ?? "."
        return FetchFailure(kind: .decode, message: "The program ended \(how)\(last)", isRetryable: true)
    }

    /// Waits until a descriptor can be read, or a signal or the deadline comes. Negative descriptors are left out.
    private static func wait(for descriptors: [CInt], until deadline: ContinuousClock.Instant) {
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let rest = max(ContinuousClock.now.duration(to: deadline) / .milliseconds(1), 0).rounded(.up)
        poll(&entries, nfds_t(entries.count), CInt(min(rest, 86_400_000)))
    }
}

/// A pipe, whose ends are closed at the latest when it is released.
private final class Pipe {
    private(set) var reading: CInt
    private(set) var writing: CInt

    init() throws(FetchFailure) {
        do throws(SystemError) { (reading, writing) = try makePipe() } catch {
            let message = "norris-fetch cannot be started: \(error.reason)."
            throw FetchFailure(kind: .decode, message: message, isRetryable: true)
        }
    }

    deinit {
        closeReading()
        closeWriting()
    }

    func closeReading() {
        if reading >= 0 { close(reading) }
        reading = -1
    }

    func closeWriting() {
        if writing >= 0 { close(writing) }
        writing = -1
    }

    /// The next bytes, empty at the end; nil if there are none now.
    func read() -> [UInt8]? {
        var entry = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 0) > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = Glibc.read(reading, &bytes, bytes.count)
        return count < 0 && errno == EINTR ? nil : Array(bytes.prefix(max(count, 0)))
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
                guard tree == tree.mapStrings({ $0 == "text" ? sanitizedText($1) : sanitizedLine($1) }) else {
                    throw OutputReader.broken
                }
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
            && ([failure?.message, title] + (failure?.feedURLs ?? [])).allSatisfy { ($0 ?? "").utf8.count <= 4096 }
            && (failure?.feedURLs ?? []).count <= 100
            && [age, notBefore, skipped, repairs, failure?.retryAfter].allSatisfy { ($0 ?? 0) >= 0 }
            && authors.count <= Post.maximumCount && authors.allSatisfy { $0.isAnswer(to: request) }
            && categories.count <= 1000
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

extension Post: FetchedItem {
    package static let maximumCount = 2_000

    package func isAnswer(to request: FetchRequest) -> Bool {
        source == request.source && !isRead && author.isAnswer(to: request) && isWithinLimits
            && id.hasPrefix("\(source):") && id.utf8.count <= 200
            && isOpenable(url) && images.allSatisfy { isOpenable($0.url) }
            && attachments.allSatisfy { isOpenable($0.url) }
            && (links ?? []).allSatisfy { $0.isEmpty || isOpenable($0) }
    }

    private var isWithinLimits: Bool {
        let texts =
            [(text, Limit.text), (title, Limit.title)] + tags.map { ($0, Limit.tag) }
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
