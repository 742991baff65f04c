/// A type with a wire form and a schema.
package protocol WireValue: JSONEncodable, JSONDecodable {
    static var schema: Schema { get }
}

/// An object on the wire. One function declares each member with its schema, and serves to write, read and describe the
/// object, so that each name occurs in the source once.
package protocol WireObject: WireValue {
    /// Creates an object whose members are absent, empty or at their defaults.
    init()

    /// Reads the parameters of a request.
    ///
    /// - Throws: `-32602` for an invalid member of an object in a list; all other parameters were validated before.
    init(_ arguments: Arguments) throws(ResponseError)

    /// Visits every member, in wire order.
    mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure)
}

/// An operation on each member of a ``WireObject``: writing (``JSONWriter``), reading (``JSONMembers``) or
/// describing (``SchemaReader``).
package protocol MemberVisitor: ~Copyable {
    associatedtype Failure: Error

    /// - Parameters:
    ///   - value: the value to write, or the destination of the read value; nil if absent.
    ///   - schema: called only to describe the member.
    ///   - summary: the purpose of a parameter, in one sentence.
    mutating func member<Value: WireValue>(
        _ name: StaticString, _ value: inout Value?, _ presence: Presence, _ schema: () -> Schema,
        _ summary: StaticString) throws(Failure)
}

package enum Presence: Sendable {
    case required, optional
    /// Written as null if there is no value.
    case nullable
    /// Always written, never read.
    case constant
}

extension MemberVisitor where Self: ~Copyable {
    package mutating func required<Value: WireValue>(
        _ name: StaticString, _ value: inout Value, _ schema: @autoclosure () -> Schema = Value.schema,
        _ summary: StaticString = ""
    ) throws(Failure) {
        var member: Value? = value
        try self.member(name, &member, .required, schema, summary)
        if let member { value = member }
    }

    package mutating func optional<Value: WireValue>(
        _ name: StaticString, _ value: inout Value?, _ schema: @autoclosure () -> Schema = Value.schema,
        _ summary: StaticString = ""
    ) throws(Failure) { try member(name, &value, .optional, schema, summary) }

    package mutating func nullable<Value: WireValue>(_ name: StaticString, _ value: inout Value?) throws(Failure) {
        try member(name, &value, .nullable, { .nullable(Value.schema) }, "")
    }

    /// Visits a member that is absent if false.
    package mutating func flag(
        _ name: StaticString, _ value: inout Bool, _ summary: StaticString = ""
    ) throws(Failure) {
        var member: Bool? = value ? true : nil
        try self.member(name, &member, .optional, { .boolean }, summary)
        value = member ?? false
    }

    /// Visits a list that is always written, and empty if absent, because an earlier version did not write it.
    package mutating func list<Element: WireValue>(_ name: StaticString, _ value: inout [Element]) throws(Failure) {
        var member: [Element]? = value
        try self.member(name, &member, .optional, { .list(Element.schema) }, "")
        value = member ?? []
    }

    /// Visits a number that is absent if 0. The reader replaces an absent number by the default.
    package mutating func number(
        _ name: StaticString, _ value: inout Int, _ range: ClosedRange<Int>, default count: Int, _ summary: StaticString
    ) throws(Failure) {
        var member = value == 0 ? nil : value
        try self.member(name, &member, .optional, { .integer(range, default: count) }, summary)
        value = member ?? count
    }

    /// Visits a list that is absent if empty. A single string is read as a list of one string.
    package mutating func strings(
        _ name: StaticString, _ value: inout [String], _ summary: StaticString
    ) throws(Failure) {
        var member = value.isEmpty ? nil : StringOrStrings(strings: value)
        try self.member(name, &member, .optional, { StringOrStrings.schema }, summary)
        value = member?.strings ?? []
    }

    /// Visits a text that is the same in all values.
    package mutating func constant(_ name: StaticString, _ value: String) throws(Failure) {
        var member: String? = value
        try self.member(name, &member, .constant, { .word([value]) }, "")
    }
}

// MARK: Writing

extension JSONWriter: MemberVisitor {
    package mutating func member<Value: WireValue>(
        _ name: StaticString, _ value: inout Value?, _ presence: Presence, _ schema: () -> Schema,
        _ summary: StaticString
    ) {
        if let value {
            key(name)
            value.encode(to: &self)
        } else if presence == .nullable {
            key(name)
            null()
        }
    }
}

extension WireObject {
    package func encode(to json: inout JSONWriter) {
        // A copy, because `visit` is mutating for the sake of reading.
        var copy = self
        json.beginObject()
        copy.visit(&json)
        json.endObject()
    }
}

// MARK: Reading

/// Reads the members of an object by name, and ignores unknown members.
package struct JSONMembers: MemberVisitor {
    private let bytes: UnsafeRawBufferPointer
    private let members: [(key: JSONToken, value: JSONToken)]

    /// - Parameter members: of one object, as tokens of these bytes.
    init(_ members: [(key: JSONToken, value: JSONToken)], of bytes: UnsafeRawBufferPointer) {
        (self.members, self.bytes) = (members, bytes)
    }

    init(_ json: JSONValue) throws(JSONDecodingError) {
        guard json.kind == .object else { throw JSONDecodingError(message: "must be an object") }
        var members: [(key: JSONToken, value: JSONToken)] = []
        members.reserveCapacity(12)
        json.forEachMember { key, value in
            members.append((key.token, value.token))
            return true
        }
        self.init(members, of: json.bytes)
    }

    subscript(name: StaticString) -> JSONValue? {
        for (key, value) in members where JSONValue(key, of: bytes).hasText(name) { return JSONValue(value, of: bytes) }
        return nil
    }

    func required<Value: JSONDecodable>(_ name: StaticString) throws(JSONDecodingError) -> Value {
        guard let json = self[name] else { throw JSONDecodingError(path: "\(name)", message: "is missing") }
        do throws(JSONDecodingError) { return try Value(json: json) } catch { throw error.below("\(name)") }
    }

    package mutating func member<Value: WireValue>(
        _ name: StaticString, _ value: inout Value?, _ presence: Presence, _ schema: () -> Schema,
        _ summary: StaticString
    ) throws(JSONDecodingError) {
        switch presence {
        case .required: value = try required(name)
        case .optional, .nullable:
            value = if let json = self[name], json.kind != .null { try required(name) } else { nil }
        case .constant: break
        }
    }
}

extension WireObject {
    package init(json: JSONValue) throws(JSONDecodingError) {
        self.init()
        var members = try JSONMembers(json)
        try visit(&members)
    }
}

// MARK: Describing

/// Collects the names and schemas of the members of a ``WireObject``.
struct SchemaReader: MemberVisitor {
    private(set) var members: [Schema.Member] = []

    /// - Precondition: no name occurs twice.
    mutating func member<Value: WireValue>(
        _ name: StaticString, _ value: inout Value?, _ presence: Presence, _ schema: () -> Schema,
        _ summary: StaticString
    ) {
        precondition(!members.contains { $0.name == "\(name)" }, "Two members are called \(name)")
        members.append(
            Schema.Member(name: "\(name)", schema: schema(), isRequired: presence != .optional, summary: "\(summary)"))
    }
}

extension WireObject {
    /// The members of the object, in wire order.
    static var members: [Schema.Member] {
        var (value, reader) = (Self(), SchemaReader())
        value.visit(&reader)
        return reader.members
    }

    package static var schema: Schema { .object(members) }
}

/// A ``WireObject`` in `components.schemas` of `rpc.discover`, to which other schemas refer by name.
package protocol SharedObject: WireObject, Equatable, Sendable {}

extension SharedObject {
    /// The name of the type.
    static var schemaName: String { "\(Self.self)" }

    package static var schema: Schema { .reference(schemaName) }
}

// MARK: Plain values

extension JSON: WireValue { package static var schema: Schema { .any } }

extension Array: WireValue where Element: WireValue { package static var schema: Schema { .list(Element.schema) } }

extension Dictionary: WireValue where Key == String, Value: WireValue {
    package static var schema: Schema { .dictionary(Value.schema) }
}

/// A value that is a string on the wire: its description.
package protocol TextValue: WireValue, LosslessStringConvertible {}

extension TextValue {
    package init(json: JSONValue) throws(JSONDecodingError) {
        guard let value = json.text.flatMap(Self.init) else {
            throw JSONDecodingError(message: "must be \(Self.schema.requirement)")
        }
        self = value
    }

    package func encode(to json: inout JSONWriter) { json.string(description) }
}

/// A list of strings; a client may send a list of one as a plain string.
struct StringOrStrings: WireValue {
    static var schema: Schema { .stringOrStrings }

    var strings: [String]

    init(strings: [String]) { self.strings = strings }

    init(json: JSONValue) throws(JSONDecodingError) {
        strings = if let text = json.text { [text] } else { try [String](json: json) }
    }

    func encode(to json: inout JSONWriter) { strings.encode(to: &json) }
}

package struct NoMembers: WireObject, Equatable, Sendable {
    package init() {}
    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {}
}

/// A word from a set that can grow. A client keeps an unknown word instead of failing.
package protocol OpenString: RawRepresentable, Hashable, Sendable, WireValue where RawValue == String {
    /// The words of this version, in the order of the documentation.
    static var all: [Self] { get }

    init(rawValue: String)
}

extension OpenString {
    package static var schema: Schema { .word(all.map(\.rawValue)) }

    package init(json: JSONValue) throws(JSONDecodingError) { self.init(rawValue: try String(json: json)) }

    package func encode(to json: inout JSONWriter) { json.string(rawValue) }
}
