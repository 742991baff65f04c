import Glibc
import NorrisFetchProtocol
import NorrisProtocol
import NorrisText
import SystemdIntegration

/// A kind of value: its description, and how it is read from a text and written.
struct ConfigurationKind<Value: Sendable>: Sendable {
    typealias Context = ConfigurationReader.Context

    /// The end of "expected …", such as `a whole number from 1 to 100`; also the text of the man page.
    let expectation: String
    /// Returns nil for a text that the message may quote.
    let read: @Sendable (String, Context) throws(ConfigurationRefusal) -> Value?
    /// The value on one line, in a form that is valid in a flow list.
    let write: @Sendable (Value) -> String
    /// A warning about a valid value.
    var warn: @Sendable (Value, Context) -> String? = { _, _ in nil }
}

extension ConfigurationKind {
    /// The value of a text.
    func value(of text: String, _ context: Context) throws(ConfigurationRefusal) -> Value {
        if let value = try read(text, context) { return value }
        throw ConfigurationRefusal("expected \(expectation), found \(YAMLText.excerpt(text))")
    }
}

/// The reason why a text is not a value of a kind: a complete sentence.
struct ConfigurationRefusal: Error {
    let sentence: String
    init(_ sentence: String) { self.sentence = sentence }
}

extension ConfigurationKind<Bool> {
    /// `true` or `false`, but not the other booleans of YAML 1.1.
    static let boolean = Self(expectation: "true or false", read: { text, _ in Bool(text) }, write: { "\($0)" })
}

extension ConfigurationKind<Int> {
    /// A whole number in decimal digits.
    static func count(_ range: ClosedRange<Int>) -> Self {
        Self(
            expectation: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            read: { text, _ in plainNumber(text).flatMap { range.contains($0) ? $0 : nil } }, write: { "\($0)" })
    }

    /// A number of bytes.
    static func size(_ range: ClosedRange<Int>) -> Self {
        let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)]
        return quantity("size", range, of: units, such: "64KiB or 16MiB", make: { $0 }, number: { $0 })
    }
}

extension ConfigurationKind<Duration> {
    /// - Parameter range: in seconds.
    static func duration(_ range: ClosedRange<Int>) -> Self {
        let units = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)]
        return quantity(
            "duration", range, of: units, such: "90s, 15m, 6h or 7d", make: { .seconds($0) },
            number: { Int($0.components.seconds) })
    }

    /// The shortest interval between fetches of an upstream that causes no warning.
    static let shortestQuietRefresh = Duration.minutes(5)

    static let refresh: Self = {
        var kind = duration(1...365 * 86_400)
        kind.warn = { [write = kind.write] value, _ in
            if value >= shortestQuietRefresh { return nil }
            let shortest = write(shortestQuietRefresh)
            return "\(write(value)) is a very short interval; use \(shortest) or more to spare the upstream"
        }
        return kind
    }()

    /// How long content is kept.
    static let keep = duration(1...3650 * 86_400)
}

extension ConfigurationKind {
    /// A whole number and a unit.
    ///
    /// - Parameter units: the largest first, for printing; a name that ends in another name comes before that name.
    private static func quantity(
        _ name: String, _ range: ClosedRange<Int>, of units: [(name: String, scale: Int)], such examples: String,
        make: @escaping @Sendable (Int) -> Value, number: @escaping @Sendable (Value) -> Int
    ) -> Self {
        /// In the largest unit without a fraction; but one day is `24h`, the usual form.
        @Sendable func text(_ value: Int) -> String {
            if value == 0 { return "0\(units.last?.name ?? "")" }
            let unit = units.first { value.isMultiple(of: $0.scale) && ($0.name, value) != ("d", 86_400) }
            return unit.map { "\(value / $0.scale)\($0.name)" } ?? "\(value)"
        }
        let bounds = "\(text(range.lowerBound)) to \(text(range.upperBound))"
        return Self(
            expectation: "a \(name) from \(bounds), such as \(examples)",
            read: { written, _ in
                guard let unit = units.first(where: { written.hasSuffix($0.name) }),
                    let count = plainNumber(written.dropLast(unit.name.count)),
                    case let (value, overflow) = count.multipliedReportingOverflow(by: unit.scale), !overflow,
                    range.contains(value)
                else { return nil }
                return make(value)
            }, write: { text(number($0)) })
    }

    /// A whole number in its shortest form; `Int(_:)` would also accept a plus sign and leading zeros.
    private static func plainNumber(_ text: some StringProtocol) -> Int? {
        Int(text).flatMap { "\($0)" == text ? $0 : nil }
    }
}

extension ConfigurationKind where Value: RawRepresentable<String> & CaseIterable {
    /// One of a few words, in lower case.
    static var choice: Self {
        let words = Value.allCases.map(\.rawValue)
        let expectation = words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
        return Self(expectation: expectation, read: { text, _ in Value(rawValue: text) }, write: { $0.rawValue })
    }
}

extension ConfigurationKind<String> {
    /// A text that is not blank, without control characters.
    ///
    /// - Parameter check: converts the text to the value.
    private static func text(
        _ expectation: String,
        check: @escaping @Sendable (String, Context) throws(ConfigurationRefusal) -> String? = { text, _ in text },
        warn: @escaping @Sendable (String, Context) -> String? = { _, _ in nil }
    ) -> Self {
        Self(
            expectation: expectation,
            read: { text, context throws(ConfigurationRefusal) in try check(printable(text), context) },
            write: YAMLText.scalar, warn: warn)
    }

    fileprivate static func printable(_ text: String) throws(ConfigurationRefusal) -> String {
        let hasControl = text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard !hasControl, !text.allSatisfy(\.isWhitespace) else {
            throw .init("must hold a visible character and no control character; correct or remove it")
        }
        return text
    }

    static let group = text(
        "the name of a group, as text",
        warn: { name, context in
            guard context.checksSystem, Settings.groupID(name) == nil else { return nil }
            return "there is no group \(YAMLText.quoted(name)) here; create it or remove the name"
        })

    /// An argument of a program.
    static let argument = text("a text")

    /// A value for an HTTP header: printable ASCII (RFC 9110, section 5.5).
    static let headerValue = text(
        "a text of 1 to 256 printable ASCII characters",
        check: { text, _ in
            text.utf8.count <= 256 && text.utf8.allSatisfy { (0x20...0x7E).contains($0) } ? text : nil
        })

    static let title = text(
        "a text of 1 to 200 characters", check: { text, _ in text.unicodeScalars.count <= 200 ? text : nil })

    static let tag = text(SourceTag.rule, check: { text, _ in SourceTag.normalized(text) })

    /// A search query for an upstream that limits the length in UTF-16 units.
    static func query(_ lengths: ClosedRange<Int>) -> Self {
        text(
            "a query of \(lengths.lowerBound) to \(lengths.upperBound) characters",
            check: { text, _ in lengths.contains(text.utf16.count) ? text : nil })
    }

    /// A fortune file or a folder of them.
    static let fortunes = path { path in
        var status = stat()
        guard stat(path, &status) != 0, errno == ENOENT || errno == ENOTDIR else { return nil }
        return "there is no file or folder \(YAMLText.scalar(path)); install its package, or correct the path"
    }

    /// The file of Giphy's key.
    static let keyFile = path { path in
        var gifs = Configuration.Gifs()
        gifs.apiKeyFile = path
        return GiphyKey(gifs, Credentials(directory: nil)).failure?.message ?? warning(ofPublic: path)
    }

    static let headersFile = path { path in
        HeadersFile(path, Credentials(directory: nil)).failure?.message ?? warning(ofPublic: path)
    }

    /// The warning about a file with a secret that every user can read.
    private static func warning(ofPublic path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IROTH != 0 else { return nil }
        return "every user can read the key file; run: chmod o-r \(YAMLText.scalar(path))"
    }

    /// A path, made absolute.
    ///
    /// - Parameter missing: the warning about a path without a usable file.
    private static func path(missing: @escaping @Sendable (String) -> String?) -> Self {
        let expectation = "a path that is absolute, begins with ~/ or is relative to the configuration file's folder"
        return text(
            expectation,
            check: { text, context throws(ConfigurationRefusal) in
                if text.hasPrefix("/") { return text }
                guard text.hasPrefix("~") else {
                    return Paths.join(context.folder, text.hasPrefix("./") ? String(text.dropFirst(2)) : text)
                }
                guard text == "~" || text.hasPrefix("~/") else { return nil }
                guard let home = context.home else {
                    throw .init("begins with ~ but the home directory is unknown; write an absolute path or set $HOME")
                }
                return Paths.join(home, String(text.dropFirst(2)))
            }, warn: { path, context in context.checksSystem ? missing(path) ?? context.warning(ofHidden: path) : nil })
    }

    /// The URL of a source of posts: a document, which often has a query, or the base URL of an API.
    static func sourceURL(_ kind: PostSourceKind) -> Self { url(isBase: kind != .feed) }

    /// A URL to which paths are added, without trailing slashes.
    static let baseURL = url(isBase: true)

    /// A base URL to which a key is sent; plain `http` over the internet causes a warning.
    static let baseURLForKey: Self = {
        var kind = baseURL
        kind.warn = { url, _ in
            guard let url = HTTPURL(url), !url.isSecure, !url.hasPrivateHost else { return nil }
            return "sends the API key unencrypted; write https:// if the host supports it"
        }
        return kind
    }()

    /// No message quotes the URL, because the URL may contain a password.
    private static func url(isBase: Bool) -> Self {
        text(
            "an http or https URL",
            check: { text, context throws(ConfigurationRefusal) in
                if isBase, text.contains("?") {
                    throw .init("must not contain a query; remove ? and the part after it")
                }
                let (scheme, authority, rest) = try urlParts(text)
                if !context.allowsUser, authority.contains("@") {
                    throw .init("must not contain a user name or password; remove the part before @")
                }
                if rest.contains("#") { throw .init("must not contain a fragment; remove # and the part after it") }
                guard isSourceURL(text) else { throw badURL }
                var url = scheme + authority + rest
                while isBase, url.hasSuffix("/") { url.removeLast() }
                return url
            })
    }
}

extension ConfigurationKind<FetchRequest.Proxy> {
    /// `http://[USER[:PASSWORD]@]HOST[:PORT]`. The password is printed as `***`, and no message quotes it.
    static let proxy = Self(
        expectation: "a URL such as http://proxy.example:3128",
        read: { text, _ throws(ConfigurationRefusal) in
            let (scheme, authority, rest) = try urlParts(ConfigurationKind<String>.printable(text))
            guard scheme == "http://" else {
                throw .init("must begin with http://; what is https stays encrypted through the proxy")
            }
            guard rest.isEmpty || rest == "/" else {
                throw .init("must end after the host and port; remove the path, query or fragment")
            }
            var user: [String?] = []
            var host = authority
            if let at = authority.lastIndex(of: "@") {
                user = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                    .map(percentDecoded)
                guard user.first != "", !user.contains(nil) else {
                    throw .init(
                        "has a user name or password that is empty or not UTF-8; write USER:PASSWORD@HOST, signs as %XX"
                    )
                }
                host = authority[authority.index(after: at)...]
            }
            guard let url = HTTPURL(scheme + host) else { throw badURL }
            let isBracketed = url.host.hasPrefix("[")
            return FetchRequest.Proxy(
                host: isBracketed ? String(url.host.dropFirst().dropLast()) : url.host, port: url.port ?? 80,
                user: user.first ?? nil, password: user.count > 1 ? user[1] : nil)
        },
        write: { value in
            let user = value.user.map { percentEncoded($0) + (value.password == nil ? "@" : ":***@") } ?? ""
            return YAMLText.scalar("http://\(user)\(value)")
        })
}

private let badURL = ConfigurationRefusal(
    "is no valid URL; check the host (a name such as api.example.org or an address such as [::1]) and the port, "
        + "and write what no URL may hold as %XX")

/// The parts of a URL: the scheme in lower case, user information with host and port, and the rest.
private func urlParts(
    _ url: String
) throws(ConfigurationRefusal) -> (scheme: String, authority: Substring, rest: Substring) {
    guard let scheme = ["http://", "https://"].first(where: url.lowercased().hasPrefix) else {
        throw .init("must be an absolute URL that begins with http:// or https://")
    }
    let rest = url.dropFirst(scheme.count)
    let authority = rest.prefix { !"/?#".contains($0) }
    return (scheme, authority, rest[authority.endIndex...])
}

/// Decodes percent escapes (RFC 3986, section 2.1). Returns nil for an escape without two digits, and for bytes that
/// are not UTF-8.
private func percentDecoded(_ text: Substring) -> String? {
    guard text.utf8.allSatisfy(isAllowedInURL) else { return nil }
    let parts = text.utf8.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)
    var bytes = Array(parts[0])
    for part in parts.dropFirst() {
        // `UInt8(_:radix:)` would accept a sign.
        guard part.prefix(2).count == 2, part.first != UInt8(ascii: "+"), part.first != UInt8(ascii: "-"),
            let byte = UInt8(String(decoding: part.prefix(2), as: UTF8.self), radix: 16)
        else { return nil }
        bytes += [byte] + part.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
}

extension Duration {
    static func minutes(_ count: Int64) -> Duration { .seconds(count * 60) }
    static func hours(_ count: Int64) -> Duration { .seconds(count * 3600) }
    static func days(_ count: Int64) -> Duration { .seconds(count * 86_400) }
}
