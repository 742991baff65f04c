import NorrisProtocol
import NorrisText

/// The template of `--format`: text with field names in braces, which formats each item as a line.
///
/// `{author.name}` is a field of a field, `{images.0.url}` a field of the first list element. The escapes are `\t` for
/// a tab, `\n` for a newline, `\\` and `\{`.
struct Template: Equatable, Sendable {
    private enum Part: Equatable {
        case text(String)
        case field([String])
    }

    private var parts: [Part] = []

    /// - Returns: nil if a brace is not closed, or the braces are empty.
    init?(_ template: String) {
        var text = ""
        var rest = template.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\\":
                let escapes: [Unicode.Scalar: String] = ["t": "\t", "n": "\n", "\\": "\\", "{": "{"]
                if let next = rest.first, let meant = escapes[next] {
                    text += meant
                    rest.removeFirst()
                } else {
                    text += "\\"
                }
            case "{":
                guard let end = rest.firstIndex(of: "}"), end > rest.startIndex else { return nil }
                let path = String(rest[..<end]).split(separator: ".", omittingEmptySubsequences: false).map(String.init)
                parts += [.text(text), .field(path)]
                text = ""
                rest = rest[end...].dropFirst()
            default: text.unicodeScalars.append(scalar)
            }
        }
        parts.append(.text(text))
    }

    /// The members that contain items: a list of items or one item. Without such a member, the result is the item.
    private static let itemNames = ["items", "checks", "fact", "gif", "post"]

    /// The member of a result that contains items. A member with the name `items` may also be a number.
    private static func itemName(of result: Schema) -> String? {
        itemNames.first { name in result.member(name).map { $0.member("0") != nil || $0.isObject } ?? false }
    }

    /// - Throws: If the items of the result lack a field of the template.
    func check(_ result: Schema) throws(Failure) {
        let holder = Self.itemName(of: result).flatMap { result.member($0) } ?? result
        let item = holder.member("0") ?? holder
        for case .field(let path) in parts {
            var field: Schema? = item
            for name in path { field = field?.member(name) }
            guard field == nil else { continue }
            let name = path.joined(separator: ".").quotedForMessage
            let known = item.memberNames.joined(separator: ", ")
            throw Failure(
                .usage, "--format: there is no field \(name).",
                hint: known.isEmpty ? "The result of this command has no fields." : "There are: \(value: known)")
        }
    }

    /// Formats each item of a result as a line. With the schema `.any`, the result's own members are the valid fields.
    func lines(of result: JSON, _ schema: Schema) throws(Failure) -> String {
        try check(schema == .any ? Schema(of: result) : schema)
        let name =
            schema == .any ? Self.itemNames.first { result.member($0).holdsMembers } : Self.itemName(of: schema)
        let holder = name.map(result.member) ?? result
        let items = if case .array(let items) = holder { items } else { [holder] }
        return items.map { item in
            parts.map { part in
                switch part {
                case .text(let text): sanitizedText(text)
                case .field(let path): sanitizedLine(path.reduce(item) { $0.member($1) }.plainText)
                }
            }.joined() + "\n"
        }.joined()
    }
}

extension JSON {
    /// Returns a member of an object, a list element by its index from 0, or null if there is none.
    fileprivate func member(_ name: String) -> JSON {
        switch self {
        case .object(let members): members[name] ?? .null
        case .array(let elements): Int(name).flatMap { elements.indices.contains($0) ? elements[$0] : nil } ?? .null
        default: .null
        }
    }

    fileprivate var holdsMembers: Bool {
        switch self {
        case .object, .array: true
        default: false
        }
    }

    /// The text of a value: a string without quotes, a list with commas, nothing for null, and else JSON.
    fileprivate var plainText: String {
        switch self {
        case .null: return ""
        case .string(let text): return text
        case .array(let elements): return elements.map(\.plainText).joined(separator: ",")
        case .bool, .integer, .double, .object:
            var json = JSONWriter()
            json.value(self)
            return String(decoding: json.bytes, as: UTF8.self)
        }
    }
}

extension Schema {
    fileprivate init(of value: JSON) {
        switch value {
        case .object(let members):
            self = .object(members.members.map { Member(name: $0.key, schema: Schema(of: $0.value), isRequired: true) })
        case .array(let elements): self = .list(elements.first.map(Schema.init(of:)) ?? .any)
        default: self = .string
        }
    }

    /// Returns the schema of a member or a list element, or nil if the schema has no such member.
    fileprivate func member(_ name: String) -> Schema? {
        switch resolved {
        case .any: .any
        case .object(let members): members.first { $0.name == name }?.schema
        case .dictionary(let value): value
        case .list(let element): Int(name) != nil ? element : nil
        default: nil
        }
    }

    fileprivate var isObject: Bool { !memberNames.isEmpty }

    fileprivate var memberNames: [String] {
        if case .object(let members) = resolved { members.map(\.name) } else { [] }
    }

    /// The schema behind references, without `nullable`.
    private var resolved: Schema {
        switch self {
        case .nullable(let schema): schema.resolved
        case .reference(let name): SharedSchemas.all.first { $0.name == name }?.schema ?? .any
        default: self
        }
    }
}
