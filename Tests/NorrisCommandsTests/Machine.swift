import Dispatch
import Glibc
import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisTestSupport
import Synchronization
import Testing

/// Disambiguates from the `ExitStatus` of Swift Testing.
typealias ExitStatus = NorrisCommands.ExitStatus

/// A machine: one daemon reply for each call, a folder that replaces `/`, real programs, and a clock that never waits.
final class Machine: Sockets {
    var environment: [String: String] = [:]
    /// The terminal at standard output.
    var terminal = TerminalFacts(isTerminal: false)
    /// nil for a standard input that cannot be read.
    var input: [UInt8]? = []
    var isErrorTerminal = false
    /// The width of standard error, if `isErrorTerminal`.
    var errorColumns = 80
    var isInputTerminal = false
    /// The lines that the user types before ``input``.
    var answers: [String] = []

    /// The lines of a followed connection. `streamEnd` is the error after them. An empty line begins another
    /// connection, after the first has ended; after the last one norrisctl is not permitted to connect.
    var stream: [String] = []
    /// Whether ``stream`` has connections that were not followed.
    private var hasStream = true
    var streamEnd = ClientError.closed(path: "/run/norrisd.sock")

    /// The files before a run, which were modified at ``now``.
    var files: [String: [UInt8]] = [:]
    private let root = TemporaryFolder()
    /// The error of every immediate write to standard output.
    var outputError: SystemError?

    /// The outcomes of programs, one for each run. A program without an outcome is missing.
    var programs: [String: [SubprocessOutcome]] = [:]

    /// A run of a program.
    struct Run: Equatable {
        let program: String
        let arguments: [String]
        var input: [UInt8] = []
    }

    private(set) var runs: [Run] = []

    var listener: Int?

    /// The duration of each call and streamed line.
    var delay: Duration = .zero
    private var elapsed: Duration = .zero
    /// The time that a person takes to answer, and a pipe to be read or written: longer than every default timeout.
    private static let pause = Duration.seconds(3_600)
    /// The bytes that were typed or piped before the last look at the clock.
    private var transferred: Int?

    private var replies: [Result<[UInt8], ClientError>]
    private(set) var requests: [JSON] = []
    private(set) var sockets: [[String]] = []
    private(set) var timeouts: [Duration] = []
    /// The timeout before each line of a followed connection.
    private(set) var waits: [Duration?] = []

    static let now = Timestamp("2026-11-21T12:00:00Z")!

    /// Sets the time zone of the process, because some texts have a local time; and SIGPIPE as norrisctl has it.
    private static let prepared: Void = {
        setenv("TZ", "UTC", 1)
        tzset()
        signal(SIGPIPE, SIG_IGN)
    }()
    var now = Machine.now

    init(_ replies: [Result<[UInt8], ClientError>] = []) {
        _ = Self.prepared
        self.replies = replies
        super.init()
        for folder in ["bin", "dev", "opt/bin", "opt/libexec/norrisd", "proc/self", "tmp"] { makeFolders("/\(folder)") }
        symlink("../../opt/bin/norrisctl", root("proc/self/exe"))
        for program in ["norrisctl", "norris-card"] { place("/opt/bin/\(program)", []) }
    }

    convenience init(results: String...) { self.init(results: results) }
    convenience init(results: [String]) { self.init(results.map(Machine.reply)) }
    convenience init(error: ResponseError) { self.init([Machine.reply(error)]) }

    convenience init(failure: ClientError) { self.init([.failure(failure)]) }

    func onTerminal(columns: Int = 80) -> Machine {
        terminal = TerminalFacts(isTerminal: true, columns: columns)
        environment["NO_COLOR"] = "1"
        return self
    }

    func run(_ arguments: String...) -> Outcome { run(arguments) }

    func reply(_ reply: Result<[UInt8], ClientError>) { replies.append(reply) }

    func run(_ arguments: [String]) -> Outcome { use { Outcome(status: Program.run(arguments, on: $0)) } }

    /// Calls a body with the system interface of commands, and returns its outcome with all that was written.
    func use(_ body: (System) -> Outcome) -> Outcome {
        for (path, bytes) in files { place(path, bytes, modified: Self.now) }
        placePrograms()
        var environment = environment
        environment["PATH"] = root("bin")
        if isErrorTerminal, environment["TERM"] == nil { environment["TERM"] = "xterm" }
        let output = Stream(terminal, in: root)
        let errors = Stream(TerminalFacts(isTerminal: isErrorTerminal, columns: errorColumns), in: root)
        let keyboard = isInputTerminal ? Stream(TerminalFacts(isTerminal: true), in: root) : nil
        let input = keyboard?.descriptor ?? inputFile()
        keyboard?.type(answers.map { Array("\($0)\n".utf8) }.joined() + (self.input ?? []))
        let broken = outputError.map(Self.descriptor)
        transferred = nil
        let system = System(
            environment: Environment(environment), root: root.path, input: input,
            output: broken ?? output.descriptor, errors: errors.descriptor, sockets: self, now: now,
            elapsed: { self.time(input: input, output: broken ?? output.descriptor) }, pause: { _ in })
        var outcome = body(system)
        system.waiting.erase()
        outcome.output = output.contents() + outcome.output
        outcome.errors = errors.contents() + outcome.errors
        _ = keyboard?.contents()
        if keyboard == nil { close(input) }
        if let broken { close(broken) }
        readRuns()
        return outcome
    }

    // MARK: Files

    /// The path of a file of this machine.
    func callAsFunction(_ path: String) -> String { root(path) }

    private func makeFolders(_ path: String) {
        var folder = ""
        for part in path.split(separator: "/") {
            folder += "/\(part)"
            mkdir(root(folder), 0o755)
        }
    }

    func place(_ path: String, _ bytes: [UInt8], modified: Timestamp? = nil) {
        if let slash = path.lastIndex(of: "/") { makeFolders(String(path[..<slash])) }
        let file = open(root(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        bytes.withUnsafeBytes { _ = write(file, $0.baseAddress, $0.count) }
        close(file)
        guard let modified else { return }
        utimes(root(path), Array(repeating: timeval(tv_sec: Int(modified.seconds), tv_usec: 0), count: 2))
    }

    /// The contents of a file that a command has written.
    func written(_ path: String) -> [UInt8]? { try? readFile(root(path), limit: 1 << 24) }

    /// Whether a file `f.png` or `page.html` was written.
    var hasWritten: Bool { ["f.png", "page.html"].contains { written($0) != nil } }

    private func inputFile() -> CInt {
        guard let input else { return open("/dev/null", O_WRONLY | O_CLOEXEC) }
        place("/tmp/input", input)
        return open(root("tmp/input"), O_RDONLY | O_CLOEXEC)
    }

    /// A descriptor whose writes fail: a full disk, or a pipe without a reader.
    private static func descriptor(for error: SystemError) -> CInt {
        if error.code == ENOSPC { return open("/dev/full", O_WRONLY | O_CLOEXEC) }
        // A pipe would keep its reader in each process that another test is starting, until that calls exec(3).
        var pair: [CInt] = [-1, -1]
        socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &pair)
        shutdown(pair[0], CInt(SHUT_WR))
        close(pair[1])
        return pair[0]
    }

    // MARK: Programs

    /// A script that does what the files beside it say, and notes its arguments and its standard input.
    private static let script: TemporaryFolder = {
        let folder = TemporaryFolder()
        _ = try? folder.writeProgram(
            """
            folder=$0.runs; number=$(ls "$folder" | grep -c arguments)
            if [ $# -gt 0 ]; then printf '%s\\0' "$@"; fi >"$folder/$number.arguments"
            cat >"$folder/$number.input"
            echo $$ >"$folder/$number.process"
            echo "$number $folder" >>"$(cat "$folder/log")"
            cat "$folder/$number.output" 2>/dev/null
            if [ -e "$folder/$number.end" ]; then exec "$folder/$number.end"; fi
            exit "$(cat "$folder/$number.status" 2>/dev/null || echo 97)"
            """, to: "script")
        _ = try? folder.writeProgram("exec sleep 5", to: "sleep")
        // Neither a script nor a binary.
        _ = try? folder.writeProgram("", to: "no-program", firstLine: "x")
        return folder
    }()

    private func file(ofProgram name: String) -> String {
        if name.hasPrefix("/opt/libexec/") { return "/opt/libexec/norrisd/" + name.dropFirst(13) }
        return name.hasPrefix("/") ? name : "/bin/" + name
    }

    private func placePrograms() {
        for (name, outcomes) in programs {
            let file = file(ofProgram: name)
            unlink(root(file))
            guard let first = outcomes.first, first != .missing else { continue }
            if case .notStarted = first {
                symlink(Self.script("no-program"), root(file))
                continue
            }
            symlink(Self.script("script"), root(file))
            let folder = file + ".runs"
            place(folder + "/log", Array(root("tmp/log").utf8))
            place(folder + "/name", Array(name.utf8))
            for (number, outcome) in outcomes.enumerated() {
                guard case .ended(let status, let output) = outcome else {
                    symlink(Self.script("sleep"), root("\(folder)/\(number).end"))
                    continue
                }
                place("\(folder)/\(number).output", output)
                place("\(folder)/\(number).status", Array("\(status)".utf8))
            }
        }
    }

    private func readRuns() {
        guard let log = written("/tmp/log") else { return }
        runs = String(decoding: log, as: UTF8.self).split(separator: "\n").map { line in
            let parts = line.split(separator: " ", maxSplits: 1)
            let (number, folder) = (parts[0], String(parts[1]))
            func bytes(_ name: String) -> [UInt8] { (try? readFile("\(folder)/\(name)", limit: 1 << 26)) ?? [] }
            if access("\(folder)/\(number).end", F_OK) == 0,
                let process = pid_t(String(decoding: bytes("\(number).process").dropLast(), as: UTF8.self))
            {
                // Reaps a program that norrisctl leaves behind, because a zombie would keep the exit-test wait of the
                // test runner busy.
                if waitpid(process, nil, WNOHANG) == 0 {
                    kill(process, SIGKILL)
                    waitpid(process, nil, 0)
                }
            }
            return Run(
                program: String(decoding: bytes("name"), as: UTF8.self),
                arguments: bytes("\(number).arguments").split(separator: 0, omittingEmptySubsequences: false).dropLast()
                    .map { String(decoding: $0, as: UTF8.self) },
                input: bytes("\(number).input"))
        }
    }

    // MARK: The daemon

    override func exchange(
        _ line: [UInt8], with paths: [String], within timeout: Duration, _ waiting: WaitingLine
    ) throws(ClientError) -> [UInt8] {
        pass(delay, waiting)
        sockets.append(paths)
        timeouts.append(timeout)
        take(line)
        guard !replies.isEmpty else {
            Issue.record("There is no reply left for \(String(decoding: line, as: UTF8.self))")
            throw .closed(path: "/nowhere")
        }
        return try replies.removeFirst().get()
    }

    override func spread(
        _ lines: [[UInt8]], with paths: [String], within timeout: Duration, _ waiting: WaitingLine,
        receive: (Int, [UInt8]) -> Bool
    ) throws(ClientError) {
        for (index, line) in lines.enumerated() {
            let reply = try exchange(line, with: paths, within: timeout, waiting)
            guard receive(index, reply) else { return }
        }
    }

    override func follow(
        _ lines: [[UInt8]], with paths: [String], within timeout: Duration, _ waiting: WaitingLine, output: CInt,
        receive: ([UInt8]) -> FollowStep
    ) throws(ClientError) {
        sockets.append(paths)
        waits.append(timeout)
        guard hasStream else { throw .notPermitted(path: "/run/norrisd.sock") }
        lines.forEach(take)
        let lines = Array(stream.prefix { !$0.isEmpty })
        stream.removeFirst(min(lines.count + 1, stream.count))
        hasStream = !stream.isEmpty
        for line in lines {
            pass(delay, waiting)
            switch receive(Array(line.utf8)) {
            case .stop: return
            case .send(let line): take(line)
            case .goOn(let time):
                if let time, time <= .zero { throw .timedOut(path: "/run/norrisd.sock") }
                waits.append(time)
            }
        }
        throw streamEnd
    }

    override func listener(at path: String) -> Int? { listener }

    private func take(_ line: [UInt8]) {
        do {
            requests.append(try JSON.parse(line))
        } catch {
            Issue.record("The request is no JSON: \(String(decoding: line, as: UTF8.self))")
        }
    }

    /// The time of the clock, which also runs while norrisctl reads its input and writes its output.
    private func time(input: CInt, output: CInt) -> Duration {
        var unread: CInt = 0
        _ = ioctl(input, UInt(FIONREAD), &unread)
        let count = Int(lseek(output, 0, SEEK_CUR)) - Int(unread)
        if let transferred, transferred != count { elapsed += Self.pause }
        transferred = count
        return elapsed
    }

    /// Advances the clock in the steps in which the client updates the waiting line.
    private func pass(_ time: Duration, _ waiting: WaitingLine) {
        let end = elapsed + time
        while elapsed < end { elapsed = min(end, elapsed + waiting.tick()) }
    }

    /// Whether the test supplied replies or streamed lines that no command read.
    var hasUnusedReplies: Bool { !replies.isEmpty || !stream.isEmpty && waits.isEmpty }

    var parameters: [String] {
        requests.map { request in
            guard case .object(let object) = request else { return "" }
            return object["params"]?.jsonText ?? ""
        }
    }

    var methods: [String] {
        requests.map { request in
            guard case .object(let object) = request, case .string(let method)? = object["method"] else { return "" }
            return method
        }
    }
}

struct Outcome: Equatable {
    var output: String
    var errors: String
    var status: ExitStatus

    init(output: String = "", errors: String = "", status: ExitStatus = .done) {
        self.output = output
        self.errors = errors
        self.status = status
    }

    static func failed(_ status: ExitStatus, _ message: String, _ hints: String...) -> Outcome {
        Outcome(errors: "norrisctl: \(message)\n" + hints.map { "  \($0)\n" }.joined(), status: status)
    }
}

extension Machine {
    static func reply(_ result: String) -> Result<[UInt8], ClientError> { .success(Array(self.result(result).utf8)) }

    static func reply(_ error: ResponseError) -> Result<[UInt8], ClientError> {
        .success(Array(Response(id: .integer(1), outcome: .failure(error)).jsonText.utf8))
    }

    static func result(_ result: String, id: Int = 1) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"result":\#(result)}"#
    }

    static func line(_ event: Event) -> String { String(decoding: event.line.dropLast(), as: UTF8.self) }
}

/// A file or a terminal for standard output or standard error, or a keyboard.
private final class Stream: Sendable {
    let descriptor: CInt
    /// The other side of a terminal; nil for a file.
    private let leader: CInt?
    private let received = Mutex<[UInt8]>([])
    private let reading = DispatchGroup()

    init(_ terminal: TerminalFacts, in folder: TemporaryFolder) {
        var ends = (leader: CInt(-1), follower: CInt(-1))
        var size = winsize(
            ws_row: UInt16(terminal.rows ?? 0), ws_col: UInt16(terminal.columns ?? 0), ws_xpixel: 0, ws_ypixel: 0)
        guard terminal.isTerminal, openpty(&ends.leader, &ends.follower, nil, nil, &size) == 0 else {
            var template = Array(folder("tmp/stream.XXXXXX").utf8CString)
            descriptor = mkstemp(&template)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            unlink(template)
            self.leader = nil
            return
        }
        let (leader, follower) = ends
        for end in [leader, follower] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // Output without CR before LF.
        var attributes = termios()
        tcgetattr(follower, &attributes)
        attributes.c_oflag = 0
        tcsetattr(follower, TCSANOW, &attributes)
        (descriptor, self.leader) = (follower, leader)
        DispatchQueue.global().async(group: reading) { [self] in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            // Fails after the last descriptor of the terminal is closed (pty(7)).
            while case let count = read(leader, &buffer, buffer.count), count > 0 {
                received.withLock { $0 += buffer[..<count] }
            }
        }
    }

    /// Types text and the end of the input. Returns after the text can be read, because a thread of the kernel passes
    /// it on, and text that arrives later would look like text that was read.
    func type(_ text: [UInt8]) {
        guard let leader else { return }
        (text + [4, 4]).withUnsafeBytes { _ = write(leader, $0.baseAddress, $0.count) }
        var unread: CInt = 0
        while ioctl(descriptor, UInt(FIONREAD), &unread) == 0, unread < text.count { usleep(100) }
    }

    /// Closes the stream, and returns what was written.
    func contents() -> String {
        defer { if let leader { close(leader) } }
        guard leader == nil else {
            close(descriptor)
            reading.wait()
            return String(decoding: received.withLock(\.self), as: UTF8.self)
        }
        defer { close(descriptor) }
        lseek(descriptor, 0, SEEK_SET)
        return String(decoding: (try? readAll(descriptor)) ?? [], as: UTF8.self)
    }
}
