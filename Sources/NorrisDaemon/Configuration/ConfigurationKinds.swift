import Glibc
import NorrisProtocol
import NorrisUpstream
import SystemdIntegration

/// A kind of value: how it is read, how it is written, and the description of both.
protocol ConfigurationKind<Value>: Sendable {
    associatedtype Value: Sendable

    /// Completes "expected …", such as `a whole number from 1 to 100`; also the man page's text.
    var expectation: String { get }

    /// Reads a scalar.
    func value(
        of scalar: YAMLScalar, in context: ConfigurationReader.Context
    ) throws(ConfigurationRefusal) -> Value

    /// Reads any node; nil where what is wrong has been reported.
    func value(of node: ConfigurationNode, _ reader: inout ConfigurationReader) throws(ConfigurationRefusal) -> Value?

    /// What the author of a valid value should know all the same.
    func warning(about value: Value, in context: ConfigurationReader.Context) -> String?

    /// The value on one line, as it may stand in a flow list.
    func text(of value: Value) -> String
}

/// Why something is not a value of its kind.
enum ConfigurationRefusal: Error {
    /// Something else was expected; the message quotes what was found, then the hint.
    case mismatch(hint: String? = nil)
    /// A sentence of its own, which says everything and quotes nothing.
    case sentence(String)
}

extension ConfigurationKind {
    func value(
        of node: ConfigurationNode, _ reader: inout ConfigurationReader
    ) throws(ConfigurationRefusal) -> Value? {
        guard let scalar = node.scalar else { throw .mismatch() }
        return try value(of: scalar, in: reader.context)
    }

    func warning(about value: Value, in context: ConfigurationReader.Context) -> String? { nil }
}

/// `true` or `false`, and none of the other words that are booleans in YAML 1.1.
struct Boolean: ConfigurationKind {
    let expectation = "true or false"

    func value(of scalar: YAMLScalar, in _: ConfigurationReader.Context) throws(ConfigurationRefusal) -> Bool {
        let value =
            switch scalar.text.lowercased() {
            case "true", "yes", "on", "y", "1": true
            case "false", "no", "off", "n", "0": false
            default: throw .mismatch()
            }
        guard scalar.isPlain else { throw .mismatch(hint: "write \(value), without quotes") }
        guard scalar.text.utf8.elementsEqual("\(value)".utf8) else { throw .mismatch(hint: "write \(value)") }
        return value
    }

    func text(of value: Bool) -> String { "\(value)" }
}

/// A whole number in decimal digits.
struct Count: ConfigurationKind {
    let range: ClosedRange<Int>

    var expectation: String { "a whole number from \(range.lowerBound) to \(range.upperBound)" }

    func value(of scalar: YAMLScalar, in _: ConfigurationReader.Context) throws(ConfigurationRefusal) -> Int {
        guard let value = Int64(plainDigits: scalar.text), range.contains(Int(value)) else { throw .mismatch() }
        guard scalar.isPlain else { throw .mismatch(hint: "remove the quotes") }
        return Int(value)
    }

    func text(of value: Int) -> String { "\(value)" }
}

/// A whole number and a unit: a size or a duration.
struct Quantity<Value: Sendable>: ConfigurationKind {
    let name, examples, unitNames: String
    /// Largest first, for printing; a name that ends in another one comes before it.
    let units: [(name: String, scale: Int64)]
    let range: ClosedRange<Int64>
    let make: @Sendable (Int64) -> Value
    let number: @Sendable (Value) -> Int64
    var warn: @Sendable (Value) -> String? = { _ in nil }

    var expectation: String {
        "a \(name) from \(text(range.lowerBound)) to \(text(range.upperBound)), such as \(examples)"
    }

    func value(of scalar: YAMLScalar, in _: ConfigurationReader.Context) throws(ConfigurationRefusal) -> Value {
        guard let unit = units.first(where: { scalar.text.hasSuffix($0.name) }),
            let count = Int64(plainDigits: scalar.text.dropLast(unit.name.count)),
            case let (value, overflow) = count.multipliedReportingOverflow(by: unit.scale), !overflow
        else { throw .mismatch(hint: "write one whole number and \(unitNames), without a space") }
        guard range.contains(value) else { throw .mismatch() }
        return make(value)
    }

    func warning(about value: Value, in _: ConfigurationReader.Context) -> String? { warn(value) }

    func text(of value: Value) -> String { text(number(value)) }

    /// In the largest unit that loses nothing; but one day is `24h`, as people say it.
    private func text(_ value: Int64) -> String {
        let unit = units.first { value.isMultiple(of: $0.scale) && ($0.name, value) != ("d", 86_400) }
        return unit.map { "\(value / $0.scale)\($0.name)" } ?? "\(value)"
    }
}

extension Quantity where Value == Int {
    /// A number of bytes.
    static func size(_ range: ClosedRange<Int64>) -> Self {
        Self(
            name: "size", examples: "64KiB or 16MiB", unitNames: "B, KiB, MiB or GiB",
            units: [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)], range: range,
            make: { Int($0) }, number: { Int64($0) }
        )
    }
}

extension Quantity where Value == Duration {
    static func duration(
        _ range: ClosedRange<Duration>, warn: @escaping @Sendable (Duration) -> String? = { _ in nil }
    ) -> Self {
        Self(
            name: "duration", examples: "90s, 15m, 6h or 7d", unitNames: "s, m, h or d",
            units: [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)],
            range: range.lowerBound.components.seconds...range.upperBound.components.seconds,
            make: { .seconds($0) }, number: { $0.components.seconds }, warn: warn
        )
    }

    /// How often an upstream is fetched from; under five minutes is allowed, but not without a warning.
    static let refresh = duration(.seconds(1) ... .days(365)) { value in
        if value >= .minutes(5) { return nil }
        return "\(keep.text(of: value)) asks the upstream very often; 5m or more is kinder to it"
    }

    /// How long something is kept.
    static let keep = duration(.seconds(1) ... .days(3650))
}

/// One of a few words, in lower case.
struct Choice<Value: RawRepresentable<String> & CaseIterable & Sendable>: ConfigurationKind {
    var expectation: String {
        let words = Value.allCases.map(\.rawValue)
        return words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
    }

    func value(of scalar: YAMLScalar, in _: ConfigurationReader.Context) throws(ConfigurationRefusal) -> Value {
        guard let value = Value(rawValue: scalar.text) else { throw .mismatch() }
        return value
    }

    func text(of value: Value) -> String { value.rawValue }
}

/// A list of another kind's values. Every item that is wrong is reported.
struct List<Item: ConfigurationKind>: ConfigurationKind {
    let item: Item

    var expectation: String { "a list of which each item is \(item.expectation)" }

    func value(of _: YAMLScalar, in _: ConfigurationReader.Context) throws(ConfigurationRefusal) -> [Item.Value] {
        throw .mismatch()
    }

    func value(
        of node: ConfigurationNode, _ reader: inout ConfigurationReader
    ) throws(ConfigurationRefusal) -> [Item.Value]? {
        guard case .sequence(let items) = node.value.content else {
            reader.refuse(node, expected: "a list", hint: node.scalar.map { "write [\(YAMLText.scalar($0.text))]" })
            return nil
        }
        return items.enumerated().compactMap { index, value in
            let node = node.item(index, value)
            return reader.isReadable(node) ? reader.read(item, node) : nil
        }
    }

    func text(of value: [Item.Value]) -> String {
        "[" + value.map(item.text).joined(separator: ", ") + "]"
    }
}

/// A text that is a string to YAML and printable: not blank, no control characters.
struct Text: ConfigurationKind {
    let expectation: String
    /// Makes the value of the text.
    var check: @Sendable (String, ConfigurationReader.Context) throws(ConfigurationRefusal) -> String = { text, _ in
        text
    }
    var warn: @Sendable (String, ConfigurationReader.Context) -> String? = { _, _ in nil }

    static func string(_ scalar: YAMLScalar) throws(ConfigurationRefusal) -> String {
        switch scalar.kind {
        case .number, .boolean: throw .mismatch(hint: "put it in quotes")
        case .null: throw .mismatch()
        case .string: break
        }
        if scalar.text.allSatisfy(\.isWhitespace) {
            throw .sentence("must not be empty; write something or remove it")
        }
        if scalar.text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            throw .sentence("must not hold control characters; remove them")
        }
        return scalar.text
    }

    func value(of scalar: YAMLScalar, in context: ConfigurationReader.Context) throws(ConfigurationRefusal) -> String {
        try check(Self.string(scalar), context)
    }

    func warning(about value: String, in context: ConfigurationReader.Context) -> String? { warn(value, context) }

    func text(of value: String) -> String { YAMLText.scalar(value) }
}

extension Text {
    static let group = Self(expectation: "the name of a group, as text", warn: { name, context in
        guard context.checksSystem, Settings.groupID(name) == nil else { return nil }
        return "there is no group \(YAMLText.quoted(name)) here; create it or remove the name"
    })

    /// What an HTTP header can carry everywhere: printable ASCII (RFC 9110, section 5.5).
    static let headerValue = Self(expectation: "a text of 1 to 256 printable ASCII characters") {
        text, _ throws(ConfigurationRefusal) in
        guard text.utf8.count <= 256, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { throw .mismatch() }
        return text
    }

    /// A query for a search at an upstream that takes only so many UTF-16 units.
    static func query(_ lengths: ClosedRange<Int>) -> Self {
        Self(expectation: "a query of \(lengths.lowerBound) to \(lengths.upperBound) characters") {
            text, _ throws(ConfigurationRefusal) in
            guard lengths.contains(text.utf16.count) else { throw .mismatch(hint: "this has \(text.utf16.count)") }
            return text
        }
    }

    /// A fortune file or a folder of them.
    static let fortunes = path { path in
        var status = stat()
        guard stat(path, &status) != 0, errno == ENOENT || errno == ENOTDIR else { return nil }
        return "there is no file or folder \(YAMLText.scalar(path)); install what brings it, or correct the path"
    }

    /// The file of Giphy's key.
    static let keyFile = path { path in
        var gifs = Configuration.Gifs()
        gifs.apiKeyFile = path
        return GiphyKey(gifs, Credentials(directory: nil)).failure?.message
    }

    /// A path, made absolute.
    /// - Parameter missing: the warning about a path that leads to nothing usable.
    private static func path(missing: @escaping @Sendable (String) -> String?) -> Self {
        let expectation = "a path that is absolute, begins with ~/ or is relative to the configuration file's folder"
        return Self(expectation: expectation, check: { text, context throws(ConfigurationRefusal) in
            if text.hasPrefix("/") { return text }
            guard text.hasPrefix("~") else {
                return Paths.join(context.folder, text.hasPrefix("./") ? String(text.dropFirst(2)) : text)
            }
            guard text == "~" || text.hasPrefix("~/") else {
                throw .mismatch(hint: "write that user's home directory in full")
            }
            guard let home = context.home else {
                throw .sentence("begins with ~ but the home directory is unknown; write an absolute path or set $HOME")
            }
            return Paths.join(home, String(text.dropFirst(2)))
        }, warn: { path, context in context.checksSystem ? missing(path) : nil })
    }

    /// An `http` or `https` URL to which paths are added; trailing slashes are taken off.
    static let baseURL = Self(expectation: documentURL.expectation) { text, context throws(ConfigurationRefusal) in
        if text.contains("?") { throw .sentence("must not hold a query; remove ? and what follows") }
        var text = try documentURL.check(text, context)
        while text.hasSuffix("/") { text.removeLast() }
        return text
    }

    /// A base URL that a key is sent to; plain `http` over the internet is allowed, but not without a warning.
    static let baseURLForKey = Self(expectation: baseURL.expectation, check: baseURL.check, warn: { url, _ in
        guard let url = HTTPURL(url), !url.isSecure, !url.hasPrivateHost else { return nil }
        return "sends the API key unencrypted; write https:// if the host supports it"
    })

    /// The `http` or `https` URL of a document; feeds often have a query. No message quotes it, for a password's sake.
    static let documentURL = Self(expectation: "an http or https URL") { text, _ throws(ConfigurationRefusal) in
        let (scheme, authority, rest) = try parts(of: text)
        if authority.contains("@") {
            throw .sentence("must not hold a user name or password; remove what stands before @")
        }
        if rest.contains("#") {
            throw .sentence("must not hold a fragment; remove # and what follows")
        }
        guard HTTPURL(text) != nil else { throw badURL }
        return scheme + authority + rest
    }

    /// A URL as its scheme in small letters up to the host, its user information, host and port, and what follows.
    static func parts(
        of url: String
    ) throws(ConfigurationRefusal) -> (scheme: String, authority: Substring, rest: Substring) {
        guard let scheme = ["http://", "https://"].first(where: url.lowercased().hasPrefix) else {
            throw .sentence("must be an absolute URL that begins with http:// or https://")
        }
        let rest = url.dropFirst(scheme.count)
        let authority = rest.prefix { !"/?#".contains($0) }
        return (scheme, authority, rest[authority.endIndex...])
    }

    static let badURL = ConfigurationRefusal.sentence(
        "is no valid URL; check the host (a name such as api.example.org or an address such as [::1]) and the port, "
            + "and write what no URL may hold as %XX"
    )
}

/// `http://[USER[:PASSWORD]@]HOST[:PORT]`, printed with `***` for the password, which no message quotes.
struct Proxy: ConfigurationKind {
    let expectation = "a URL such as http://proxy.example:3128"

    func value(
        of scalar: YAMLScalar, in _: ConfigurationReader.Context
    ) throws(ConfigurationRefusal) -> HTTPProxySettings {
        let (scheme, authority, rest) = try Text.parts(of: Text.string(scalar))
        guard scheme == "http://" else {
            throw .sentence("must begin with http://; what is https stays encrypted through the proxy")
        }
        guard rest.isEmpty || rest == "/" else {
            throw .sentence("must end after the host and port; remove the path, query or fragment")
        }
        var user: [String?] = []
        var host = authority
        if let at = authority.lastIndex(of: "@") {
            user = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                .map(Self.percentDecoded)
            guard user.first != "", !user.contains(nil) else {
                throw .sentence(
                    "has a user name or password that is empty or not UTF-8; write USER:PASSWORD@HOST, signs as %XX"
                )
            }
            host = authority[authority.index(after: at)...]
        }
        guard let url = HTTPURL(scheme + host) else { throw Text.badURL }
        let isBracketed = url.host.hasPrefix("[")
        return HTTPProxySettings(
            host: isBracketed ? String(url.host.dropFirst().dropLast()) : url.host, port: url.port ?? 80,
            user: user.first ?? nil, password: user.count > 1 ? user[1] : nil
        )
    }

    func text(of value: HTTPProxySettings) -> String {
        let user = value.user.map { percentEncoded($0) + (value.password == nil ? "@" : ":***@") } ?? ""
        return YAMLText.scalar("http://\(user)\(value)")
    }

    /// RFC 3986, section 2.1; nil for what is no URL, or not UTF-8.
    private static func percentDecoded(_ text: Substring) -> String? {
        guard HTTPURL("http://localhost/\(text)") != nil else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)
        let bytes = parts.dropFirst().reduce(into: Array(parts[0])) { bytes, part in
            bytes += [String(part.prefix(2)).flatMap { UInt8($0, radix: 16) } ?? 0] + part.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension Duration {
    static func minutes(_ count: Int64) -> Duration { .seconds(count * 60) }
    static func hours(_ count: Int64) -> Duration { .seconds(count * 3600) }
    static func days(_ count: Int64) -> Duration { .seconds(count * 86_400) }
}

extension Int64 {
    /// Reads ASCII digits without a sign, an underscore or a needless leading zero, which `Int64(_:)` would allow.
    init?(plainDigits text: some StringProtocol) {
        let digits = text.utf8
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }), digits.count == 1 || digits.first != 0x30 else {
            return nil
        }
        self.init(text)
    }
}
