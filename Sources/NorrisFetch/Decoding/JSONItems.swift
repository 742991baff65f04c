import NorrisProtocol
import NorrisText

/// Reads the elements of an array or the members of an object, without building a tree of the document. The document
/// must be complete, of the expected type, and without text after its end. The content of elements is only skipped, by
/// brackets and quotes. The caller parses each element, so that an invalid one does not affect others.
struct JSONItems {
    /// The longest member name that is read, including its quotes, in bytes.
    private static let maximumName = 256

    private let bytes: ArraySlice<UInt8>
    private var position: Int

    private init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// Calls `body` for each element of an array, in order, up to the first error.
    static func forEach(
        in array: ArraySlice<UInt8>, named name: String = "the answer",
        _ body: (ArraySlice<UInt8>) throws(UpstreamError) -> Void
    ) throws(UpstreamError) {
        var items = JSONItems(array)
        guard items.peek() == "[" else { throw .unusable("answered with JSON in which \(name) is not an array") }
        try items.list(until: "]") { items throws(UpstreamError) in
            let item = try items.value()
            try body(item)
        }
    }

    /// Calls `body` for each element of an array that is a member of an object.
    static func forEach(
        in object: [UInt8], under key: String,
        _ body: (ArraySlice<UInt8>) throws(UpstreamError) -> Void
    ) throws(UpstreamError) {
        guard let array = try members(of: object[...])[key] else {
            throw .unusable("answered with JSON without \(key)")
        }
        try forEach(in: array, named: key, body)
    }

    /// Returns the members of an object; the last one of those with equal names.
    static func members(
        of object: ArraySlice<UInt8>
    ) throws(UpstreamError) -> [String: ArraySlice<UInt8>] {
        var items = JSONItems(object)
        var members: [String: ArraySlice<UInt8>] = [:]
        guard items.peek() == "{" else { throw .unusable("answered with JSON that is not an object") }
        try items.list(until: "}") { items throws(UpstreamError) in
            guard items.peek() == "\"" else { throw broken }
            let name = try items.value()
            guard items.peek() == ":" else { throw broken }
            items.position += 1
            let value = try items.value()
            // No decoder reads a member with such a long name.
            if name.count > maximumName { return }
            guard case .string(let key)? = try? JSON.parseLeniently(name) else { throw broken }
            members[key] = value
        }
        return members
    }

    /// Passes an opening bracket, all elements, and the closing bracket, which must be the end of the document.
    private mutating func list(
        until bracket: Unicode.Scalar, _ element: (inout JSONItems) throws(UpstreamError) -> Void
    ) throws(UpstreamError) {
        position += 1
        if peek() == bracket {
            position += 1
        } else {
            repeat {
                try element(&self)
                let next = peek()
                guard next == "," || next == bracket else { throw Self.broken }
                position += 1
            } while bytes[position - 1] == ","
        }
        guard peek() == nil else { throw .unusable("answered with JSON that is followed by other text") }
    }

    /// Returns the next byte that is not white space, without passing it.
    private mutating func peek() -> UInt8? {
        while position < bytes.endIndex {
            if !isWhiteSpace(bytes[position]) { return bytes[position] }
            position += 1
        }
        return nil
    }

    /// Passes a value, which ends at its closing bracket, at its closing quote, or after its last character.
    private mutating func value() throws(UpstreamError) -> ArraySlice<UInt8> {
        guard let first = peek() else { throw Self.cut }
        let start = position
        switch first {
        case "\"": try passString()
        case "{", "[": try passBrackets()
        default: while position < bytes.endIndex, !Self.endsWord(bytes[position]) { position += 1 }
        }
        guard start < position else { throw Self.broken }
        return bytes[start..<position]
    }

    private mutating func passBrackets() throws(UpstreamError) {
        var depth = 0
        repeat {
            guard position < bytes.endIndex else { throw Self.cut }
            switch bytes[position] {
            case "\"": try passString()
            case "{", "[":
                depth += 1
                position += 1
            case "}", "]":
                depth -= 1
                position += 1
            default: position += 1
            }
        } while depth > 0
    }

    private mutating func passString() throws(UpstreamError) {
        position += 1
        while position < bytes.endIndex {
            switch bytes[position] {
            case "\"":
                position += 1
                return
            case "\\": position += 2
            default: position += 1
            }
        }
        throw Self.cut
    }

    private static func endsWord(_ byte: UInt8) -> Bool {
        switch byte {
        case ",", ":", "}", "]", "{", "[", "\"", " ", "\n", "\r", "\t": true
        default: false
        }
    }

    private static let broken = UpstreamError.unusable("answered with something that is not JSON")
    private static let cut = UpstreamError.unusable("answered with incomplete JSON")
}

/// An object of JSON. The accessors return nil for members of another type.
struct JSONItem {
    private var object = JSONObject()

    private init(_ object: JSONObject) { self.object = object }

    /// Parses an object in an array. Returns nil for an invalid object.
    init?(item: ArraySlice<UInt8>) {
        guard case .object(let object)? = try? JSON.parseLeniently(item) else { return nil }
        self.object = object
    }

    /// An object of the named members, without those that are invalid.
    init(_ members: [String: ArraySlice<UInt8>], keys: [String]) {
        for key in keys {
            if let value = members[key] { object[key] = try? JSON.parseLeniently(value) }
        }
    }

    static func text(item: ArraySlice<UInt8>) -> String? {
        guard case .string(let text)? = try? JSON.parseLeniently(item) else { return nil }
        return text
    }

    var isEmpty: Bool { object.members.isEmpty }

    func isNull(_ key: String) -> Bool { (object[key] ?? .null) == .null }

    func isArray(_ key: String) -> Bool { if case .array? = object[key] { true } else { false } }

    func text(_ key: String) -> String? {
        guard case .string(let text)? = object[key] else { return nil }
        return text
    }

    /// A number that is not negative, without its fraction, or a text of digits.
    func number(_ key: String) -> Int? {
        let number: Int? =
            switch object[key] {
            case .integer(let number)?: Int(number)
            case .double(let number)? where (0...Double(JSON.maximumInteger)).contains(number): Int(number)
            case .string(let text)? where isNumber(text): Int(text)
            default: nil
            }
        // A larger number cannot be written as JSON.
        return number.flatMap { (0...Int(JSON.maximumInteger)).contains($0) ? $0 : nil }
    }

    /// A Boolean, or a number, of which 0 is false.
    func truth(_ key: String) -> Bool? {
        guard case .bool(let truth)? = object[key] else { return number(key).map { $0 != 0 } }
        return truth
    }

    /// A text that is not empty, or a number.
    func id(_ key: String) -> String? {
        switch object[key] {
        case .string(let text)?: text.isEmpty ? nil : text
        case .integer(let id)?: String(id)
        case .double(let id)? where id.isFinite: Int64(exactly: id).map { String($0) } ?? "\(id)"
        default: nil
        }
    }

    /// An `http` or `https` URL of at most 2,048 bytes, unchanged.
    func url(_ key: String) -> String? {
        text(key).flatMap { $0.utf8.count <= 2048 && isPlainURL($0) ? $0 : nil }
    }

    func date(_ key: String) -> Timestamp? { id(key).flatMap(UpstreamDate.parse) }

    func object(_ key: String) -> JSONItem? {
        guard case .object(let object)? = object[key] else { return nil }
        return JSONItem(object)
    }

    /// The objects among the first `count` members.
    func objects(upTo count: Int) -> [(name: String, object: JSONItem)] {
        object.members.prefix(count).compactMap { name, value in
            guard case .object(let object) = value else { return nil }
            return (name, JSONItem(object))
        }
    }

    /// - Parameter name: the member that a text represents; nil if texts are no objects.
    func objects(_ key: String, textsAs name: String? = nil) -> [JSONItem] {
        elements(key).compactMap { element in
            if case .object(let object) = element { return JSONItem(object) }
            guard case .string = element, let name else { return nil }
            return JSONItem(JSONObject(dictionaryLiteral: (name, element)))
        }
    }

    func texts(_ key: String) -> [String] {
        elements(key).compactMap { if case .string(let text) = $0 { text } else { nil } }
    }

    /// The elements of an array, or another value as the only element.
    private func elements(_ key: String) -> [JSON] {
        guard case .array(let elements)? = object[key] else { return [object[key]].compactMap(\.self) }
        return elements
    }
}
