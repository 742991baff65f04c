import NorrisProtocol
import NorrisSystem
import NorrisText
import SystemdIntegration

/// The header fields that only the configured host of a source receives, such as a cookie or a token. Read with the
/// configuration. No message quotes them.
struct HeadersFile: Sendable {
    static let maximumLines = 16
    /// The fields that norris-fetch sends itself, or that change the form of the reply.
    private static let refused: Set = [
        "accept-encoding", "connection", "content-length", "host", "proxy-authorization", "transfer-encoding",
    ]

    /// Lines such as `Cookie: a=b`; empty after a failure.
    private(set) var fields: [String] = []
    private(set) var failure: SourceFailure?

    /// Reads the file, or the systemd credential with the file's name if there is no file.
    ///
    /// - Parameter source: the source to whose host the fields are sent; nil to check the file only.
    init(
        _ path: String, _ credentials: Credentials, for source: Configuration.PostSource? = nil, now: Timestamp = .now()
    ) {
        do throws(ExplainedError) {
            let name = String(path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...])
            let file = try Secret.read(path: path)
            guard let secret = file == nil ? try credentials.secret(named: name) : file else {
                throw ExplainedError("There is no headers file \(path), and no credential \(name); create one of them.")
            }
            if let url = source.flatMap({ HTTPURL($0.url) }), !url.isSecure, !url.hasPrivateHost {
                throw ExplainedError("The headers of \(path) are sent over https only; write https:// in the address.")
            }
            fields = try Self.fields(of: secret.value, path)
        } catch {
            failure = SourceFailure(kind: .credentials, message: error.description, since: now)
        }
    }

    private static func fields(of text: String, _ path: String) throws(ExplainedError) -> [String] {
        guard text.utf8.count < Secret.maximumLength else {
            throw ExplainedError("The headers file \(path) has \(Secret.maximumLength) bytes or more; shorten it.")
        }
        var lines: [String] = []
        // By bytes, because CR LF is one character.
        for (index, line) in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            let field = String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
            if field.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { continue }
            let name = String(field.prefix { $0 != ":" })
            let value = field.utf8.dropFirst(name.utf8.count + 1)
            let isField =
                !name.isEmpty && name.utf8.allSatisfy { 0x21...0x7E ~= $0 && !"\"(),/;<=>?@[\\]{}".utf8.contains($0) }
                && value.contains { $0 != 0x20 && $0 != 0x09 }
                && value.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
            let place = "Line \(index + 1) of the headers file \(path)"
            guard isField else { throw ExplainedError("\(place) is no header; write NAME: VALUE.") }
            guard !refused.contains(name.lowercased()) else {
                throw ExplainedError("\(place) sets \(name), which norrisd decides; remove the line.")
            }
            lines.append(field)
        }
        guard lines.count <= maximumLines else {
            throw ExplainedError(
                "The headers file \(path) has \(lines.count) headers; remove some, at most \(maximumLines) are allowed."
            )
        }
        return lines
    }
}
