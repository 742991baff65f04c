import Glibc
import NorrisArguments
import NorrisPages
import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisText

/// The options that show items as a page for a browser.
struct WebOutput {
    private var isPrinted = false, isOpened = false
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
        var report = Report()
        if isOpened {
            let path = try PageFolder(session.system.environment).write(Array(page.utf8), as: "html")
            do throws(Failure) { report.remark("\(value: try session.open(file: path, inBrowser: true))") } catch {
                var failure = error
                if failure.hint?.text(socket: nil).hasPart(path) != true {
                    failure.steps.append("The page is in \(value: path)")
                }
                throw failure
            }
        } else if let file, file != "-" {
            try session.write(Array(page.utf8), toFile: file)
            report.remark("Wrote \(value: file).")
        } else {
            report.output = Array(page.utf8)
        }
        return report
    }
}

/// The pages and pictures that a program was asked to open: `$XDG_RUNTIME_DIR/norrisctl/`, which the system empties when the user
/// logs out. Only the user can read them, because feeds may be private.
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

    /// Writes a page as a whole or not at all, and deletes the oldest pages. Returns the path.
    ///
    /// - Parameter kind: the end of the name, `html` or `png`.
    func write(_ page: [UInt8], as kind: String) throws(Failure) -> String {
        let old = pages
        // Later than the others, also if the clock was set back.
        let time = max(Timestamp.now().seconds, (old.last.flatMap(Self.time(of:)) ?? 0) + 1)
        let file = "\(path)/\(time)-\(String(UInt32.random(in: .min ... .max), radix: 16)).\(kind)"
        do throws(SystemError) {
            let descriptor = try openFile(file, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            defer { close(descriptor) }
            try writeAll(page, to: descriptor)
        } catch {
            unlink(file)
            throw Self.unusable(file, error.reason)
        }
        for name in old.dropLast(Self.kept - 1) where Self.time(of: name) ?? 0 < time - Self.keptSeconds {
            unlink("\(path)/\(name)")
        }
        return file
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
