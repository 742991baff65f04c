import Glibc
import NorrisArguments
import NorrisPages
import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisText

/// The options that show items as a page for a browser.
struct WebOutput {
    private var isPrinted = false
    private(set) var isOpened = false
    private var file: String?

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.flag(&isPrinted, "html", "Print a page for a browser, in one file.")
        arguments.flag(&isOpened, "web", "Open the page in the browser.")
        arguments.option(&file, "output", short: "o", .file, "Write the page of --html to this file.")
    }

    var isOn: Bool { isPrinted || isOpened }

    /// The words of the options in a command for another page.
    var words: [String] {
        flagWords([("--html", isPrinted), ("--web", isOpened)]) + optionWords(("--output", file))
    }

    /// - Parameter others: further options that choose the output.
    func validate(
        _ settings: Settings, besides others: @autoclosure () -> [(name: String, isSet: Bool)] = []
    ) throws(UsageError) {
        guard isOn else {
            if file != nil { throw UsageError("--output is for pages: add --html.") }
            return
        }
        if isPrinted, isOpened { throw UsageError("Choose one of --html and --web.") }
        if isOpened, file != nil { throw UsageError("--web chooses the file: use --html with --output.") }
        let own = [("--json", settings.json), ("--format", settings.format != nil), ("--plain", settings.plain)]
        if let other = flagWords(own + others()).first {
            throw UsageError("A page is for browsers: leave out \(other).")
        }
    }

    /// Writes, prints or opens a page.
    func report(_ page: String, _ session: Session) throws(Failure) -> Report {
        try report(1, session) { _, _ in page }
    }

    /// Opens a page that says why there are no items. Without `--web`, only the report says it.
    func report(
        nothing report: Report, _ session: Session, page: (WebPage.Position) -> String
    ) -> Report {
        guard isOpened, let sentence = report.lastNote else { return report }
        var report = report
        do throws(Failure) {
            report.add(try self.report(page(WebPage.Position(nothing: sentence)), session))
        } catch {
            report.add(error)
        }
        return report
    }

    /// Writes pages and opens the first one, or writes or prints the first one. `page` makes each page in order, from
    /// its index and the names of all files.
    func report(
        _ count: Int, _ session: Session, page: (_ index: Int, _ files: [String]) -> String
    ) throws(Failure) -> Report {
        var report = Report()
        if isOpened {
            let folder = try PageFolder(session.system.environment)
            let path = try folder.write(count, as: "html") { Array(page($0, $1).utf8) }
            do throws(Failure) { report.remark("\(value: try session.open(file: path, inBrowser: true))") } catch {
                var failure = error
                if failure.hint?.text(socket: nil).hasPart(path) != true {
                    failure.steps.append("The page is in \(value: path)")
                }
                throw failure
            }
        } else if let file, file != "-" {
            try session.write(Array(page(0, []).utf8), toFile: file)
            report.remark("Wrote \(value: file).")
        } else {
            report.output = Array(page(0, []).utf8)
        }
        return report
    }
}

/// The pages and pictures that a program was asked to open: `$XDG_RUNTIME_DIR/norrisctl/`, which the system empties
/// when the user logs out. Only the user can read them, because feeds may be private.
struct PageFolder {
    /// The number of pages that stay, and the age in which all stay, because a browser may still load them.
    static let kept = 16, keptSeconds: Int64 = 60

    private let path: String

    init(_ environment: Environment) throws(Failure) {
        guard let folder = environment.value(of: "XDG_RUNTIME_DIR"), folder.hasPrefix("/") else {
            throw Failure(
                .unavailable, "There is no XDG_RUNTIME_DIR for the file.",
                hint: "Write it to a file: --html -o page.html")
        }
        path = folder + "/norrisctl"
        var status = stat()
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw Self.unusable(path, SystemError.reason()) }
        // Not a link, which could lead into a folder that others can read.
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
            throw Self.unusable(path, "it is not a folder of this user")
        }
        guard status.st_mode & 0o077 == 0 || chmod(path, 0o700) == 0 else {
            throw Self.unusable(path, SystemError.reason())
        }
    }

    /// Writes files as a whole or not at all, and deletes the oldest ones. Returns the path of the first file.
    ///
    /// - Parameters:
    ///   - kind: the end of the names, `html` or `png`.
    ///   - bytes: returns the content of a file from its index and the names of all.
    func write(
        _ count: Int = 1, as kind: String, bytes: (_ index: Int, _ files: [String]) -> [UInt8]
    ) throws(Failure) -> String {
        let old = pages
        // Later than the others, also if the clock was set back.
        let time = max(Timestamp.now().seconds, (old.last.flatMap(Self.time(of:)) ?? 0) + 1)
        let number = String(UInt32.random(in: .min ... .max), radix: 16)
        let files = (0..<count).map { "\(time)-\(number)-\($0).\(kind)" }
        for (index, file) in files.enumerated() {
            do throws(SystemError) {
                let descriptor = try openFile("\(path)/\(file)", O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
                defer { close(descriptor) }
                try writeAll(bytes(index, files), to: descriptor)
            } catch {
                for file in files[...index] { unlink("\(path)/\(file)") }
                throw Self.unusable("\(path)/\(file)", error.reason)
            }
        }
        for name in old.dropLast(Self.kept - count) where Self.time(of: name) ?? 0 < time - Self.keptSeconds {
            unlink("\(path)/\(name)")
        }
        return "\(path)/\(files[0])"
    }

    /// Names begin with the time, in the same number of digits until the year 2286.
    private static func time(of name: String) -> Int64? { Int64(name.prefix(10)) }

    /// The names of the pages, oldest first.
    private var pages: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if [".html", ".png"].contains(where: name.hasSuffix) { names.append(name) }
        }
        return names.sorted()
    }

    private static func unusable(_ path: String, _ reason: String) -> Failure {
        Failure(
            .inputOutput, "\(path) cannot be written: \(reason).",
            hint: "Write it elsewhere: --html -o page.html")
    }
}
