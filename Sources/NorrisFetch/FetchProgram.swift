import CLinux
import Glibc
import NorrisArguments
import NorrisFetchProtocol
import NorrisProtocol
import NorrisSystem
import NorrisText

/// The program `norris-fetch`: fetches and decodes one document, and ends.
package enum FetchProgram {
    /// The exit statuses of sysexits.h.
    private enum ExitStatus {
        static let usage: CInt = 64
        static let failure: CInt = 75
        static let sandbox: CInt = 71
    }

    package static func main() -> Never {
        let words = ProcessStart.prepare("norris-fetch", seesWriteErrors: false)
        if words.first == "exec" { run(Array(words.dropFirst())) }
        // A person without arguments gets a usage error.
        let isAsked = words.isEmpty && isatty(STDIN_FILENO) == 0
        do throws(SystemError) {
            if isAsked {
                try Sandbox.endWithParent(SIGKILL)
                // Only norrisd ends this process, because a signal to all processes of a unit is no failure.
                signal(SIGTERM, SIG_IGN)
            }
            try Sandbox.enter()
        } catch {
            fail("cannot limit itself: \(error).", ExitStatus.sandbox)
        }
        // One arena, because each further one reserves address space (mallopt(3)).
        mallopt(M_ARENA_MAX, 1)
        let fetched: Fetched
        if isAsked {
            fetched = answer()
        } else {
            fetched = invocation(words).run()
            if let failure = fetched.head.failure { fail(failure.message, ExitStatus.failure) }
        }
        write(fetched)
        // Without the cleanup of libraries, which takes longer than the program.
        _exit(0)
    }

    /// Fetches the document of the request on standard input.
    private static func answer() -> Fetched {
        guard let input = try? readLine(), let request = try? FetchRequest(parsing: input.line) else {
            return failed("The request is not readable; see norris-fetch(1).")
        }
        if let parent = request.parent, parent != getppid() { _exit(ExitStatus.failure) }
        guard request.version == NorrisVersion.current else {
            let message =
                "norris-fetch is of version \(NorrisVersion.current), norrisd of \(request.version); restart norrisd."
            return failed(message, isCut: true, isRetryable: true)
        }
        guard request.hasDocument else { return Fetcher(request: request).fetch() }
        return fetched(request, input.rest, writer: 3)
    }

    /// Decodes the document on standard input.
    ///
    /// - Parameter writer: the reading end of a pipe that norrisd closes when the program that writes the document has
    ///   ended, because another process may hold standard input open; -1 for none.
    private static func fetched(
        _ request: FetchRequest, _ start: ArraySlice<UInt8> = [], writer: CInt = -1
    ) -> Fetched {
        var document = Array(start)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var entries = [STDIN_FILENO, writer].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while document.count <= request.maximumBody, poll(&entries, 2, -1) > 0, entries[0].revents != 0 {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            guard count > 0 else { break }
            document += buffer[..<count]
        }
        guard document.count <= request.maximumBody else {
            return failed("The output has \(request.excess)", isCut: true)
        }
        if writer >= 0, document.allSatisfy(isWhiteSpace) {
            return failed("The program printed nothing; it has to print a feed.")
        }
        return Fetcher(request: request, document: document).fetch()
    }

    /// - Parameter isCut: whether the document is not read to its end.
    private static func failed(_ message: String, isCut: Bool = false, isRetryable: Bool = false) -> Fetched {
        var head = FetchHead(FetchFailure(kind: .decode, message: message, isRetryable: isRetryable))
        head.isCut = isCut
        return Fetched(head: head)
    }

    /// Runs a program of the configuration in the process group of this process, and ends as the program does. The
    /// group ends with norrisd, whose process id is the first word.
    private static func run(_ words: [String]) -> Never {
        signal(SIGTERM) { _ in kill(0, SIGKILL) }
        do throws(SystemError) {
            try Sandbox.endWithParent(SIGTERM)
            guard words.count > 1, words[0] == "\(getppid())" else { _exit(ExitStatus.failure) }
            let program = try startProgram(words[1], Array(words.dropFirst()), descriptors: [], group: nil)
            var status: CInt = 0
            while waitpid(program.id, &status, 0) < 0, errno == EINTR {}
            guard status & 0x7F != 0 else { _exit(status >> 8 & 0xFF) }
            signal(status & 0x7F, SIG_DFL)
            kill(getpid(), status & 0x7F)
            _exit(128 + status & 0x7F)
        } catch {
            try? writeAll(Array("\(words[1]) cannot be started: \(error.reason).\n".utf8), to: STDERR_FILENO)
            _exit(ExitStatus.failure)
        }
    }

    /// The first line of standard input, and the bytes after it that were read.
    private static func readLine() throws(SystemError) -> (line: ArraySlice<UInt8>, rest: ArraySlice<UInt8>) {
        var bytes: [UInt8] = []
        while bytes.count <= LineSplitter.maximumRequest {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            guard count >= 0 else { throw SystemError("read") }
            bytes += buffer[..<count]
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { return (bytes[..<end], bytes[(end + 1)...]) }
            if count == 0 { break }
        }
        return (bytes[...], [])
    }

    private static func write(_ fetched: Fetched) {
        var output = JSONWriter(capacity: 64 << 10)
        output.value(fetched.head)
        output.newline()
        for item in fetched.items {
            item.encode(to: &output)
            output.newline()
            if output.count > 1 << 20 {
                try? writeAll(output.bytes, to: STDOUT_FILENO)
                output.removeAll()
            }
        }
        output.value(FetchEnd(items: fetched.items.count))
        output.newline()
        try? writeAll(output.bytes, to: STDOUT_FILENO)
    }

    private static func fail(_ message: String, _ status: CInt) -> Never {
        try? writeAll(Array("norris-fetch: \(sanitizedLine(message))\n".utf8), to: STDERR_FILENO)
        _exit(status)
    }

    // MARK: By hand

    private static func invocation(_ words: [String]) -> Invocation {
        var invocation = Invocation()
        var arguments = CommandArguments(words)
        do throws(UsageError) {
            try arguments.parse { invocation.declare(&$0) }
            if !arguments.wantsHelp, !arguments.wantsVersion { try invocation.check() }
        } catch {
            try? writeAll(Array("norris-fetch: \(error.message)\nSee 'norris-fetch --help'.\n".utf8), to: STDERR_FILENO)
            _exit(ExitStatus.usage)
        }
        let text = arguments.wantsHelp ? Invocation.helpPage : "norris-fetch \(NorrisVersion.current)\n"
        if arguments.wantsHelp || arguments.wantsVersion {
            try? writeAll(Array(text.utf8), to: STDOUT_FILENO)
            _exit(0)
        }
        return invocation
    }

    /// The arguments of a person.
    struct Invocation {
        static let help = CommandHelp(
            "Fetches and decodes one document for norrisd.",
            """
            norrisd runs this program for each document, with a request as a line of JSON on standard input. By hand \
            it shows how norrisd reads a document: a line of JSON about it, a line for each post, and a last line.

            It may read no files but those of the system, write none, start no program, and use \
            \(FetchRequest.processorTime) seconds of CPU time and \(Sandbox.addressSpace >> 20) MiB of memory.

            Exit status: 0 done, 64 wrong usage, 71 it cannot limit itself, 75 the document could not be fetched or \
            read.

            Examples:
              norris-fetch feed https://planet.debian.org/rss20.xml
              norris-fetch decode feed <planet.xml
            """)

        private var command = ""
        private var operand = ""

        mutating func declare(_ arguments: inout CommandArguments) {
            arguments.positional(&command, ValueKind("kind"), "\(alternatives(Invocation.kinds)), or decode.")
            arguments.positional(
                &operand, ValueKind("url"), "The address; after decode, the kind of the document on standard input.")
            arguments.common()
        }

        private static let kinds = (PostSourceKind.addable.map(\.document) + [.opml, .article]).map(\.rawValue)

        func check() throws(UsageError) {
            let kind = command == "decode" ? operand : command
            guard Invocation.kinds.contains(kind) else {
                throw UsageError("\(kind.quotedForMessage) is no kind; use \(alternatives(Invocation.kinds))")
            }
        }

        func run() -> Fetched {
            var request = FetchRequest()
            request.source = "feed"
            request.asksPastCaches = true
            guard command == "decode" else {
                (request.kind, request.url) = (command, operand)
                return Fetcher(request: request).fetch()
            }
            (request.kind, request.url) = (operand, "http://localhost/")
            return FetchProgram.fetched(request)
        }

        static var descriptions: [Description] {
            var invocation = Invocation()
            return CommandArguments.descriptions { invocation.declare(&$0) }
        }

        static var helpPage: String { HelpPage("norris-fetch", help, descriptions).text }
    }
}
