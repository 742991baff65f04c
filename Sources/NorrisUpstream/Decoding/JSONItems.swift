import NorrisProtocol

/// Reads the elements of an array, or the members of an object, in a large document without building a tree of it. The
/// document around them is checked: complete, of the right type, with nothing after its end. The content of
/// an element is only skipped, by its brackets and quotes; whether it is JSON is for its parser to find out, so that
/// one bad element is no reason to refuse the others.
struct JSONItems {
    /// The longest element that is parsed, in bytes.
    static let maximumItem = 256 << 10
    /// Objects have fewer members than this.
    private static let usualMembers = 64
    /// What each further one takes besides its name, in bytes.
    private static let memberCost = 64

    private let bytes: ArraySlice<UInt8>
    private let budget: DecodingBudget
    private var position: Int

    private init(_ bytes: ArraySlice<UInt8>, _ budget: DecodingBudget) {
        self.bytes = bytes
        self.budget = budget
        position = bytes.startIndex
    }

    /// Calls `body` for each element of an array, in order. Elements before an error have been passed to it.
    static func forEach(
        in array: ArraySlice<UInt8>, named name: String = "the answer", _ budget: DecodingBudget,
        _ body: (ArraySlice<UInt8>) throws(UpstreamError) -> Void
    ) throws(UpstreamError) {
        var items = JSONItems(array, budget)
        guard items.peek() == "[" else { throw .unusable("answered with JSON in which \(name) is no array") }
        try items.list(until: "]") { items throws(UpstreamError) in
            let item = try items.value()
            if item.count <= maximumItem { budget.spend(bytes: item.count) }
            try items.spend(item)
            try body(item)
        }
    }

    /// The same for the array that is a member of an object.
    static func forEach(
        in object: [UInt8], under key: String, _ budget: DecodingBudget,
        _ body: (ArraySlice<UInt8>) throws(UpstreamError) -> Void
    ) throws(UpstreamError) {
        guard let array = try members(of: object[...], budget)[key] else {
            throw .unusable("answered with JSON without \(key)")
        }
        try forEach(in: array, named: key, budget, body)
    }

    /// The members of an object.
    ///
    /// - Throws: an error also where a name stands twice.
    static func members(
        of object: ArraySlice<UInt8>, _ budget: DecodingBudget
    ) throws(UpstreamError) -> [String: ArraySlice<UInt8>] {
        var items = JSONItems(object, budget)
        var members: [String: ArraySlice<UInt8>] = [:]
        guard items.peek() == "{" else { throw .unusable("answered with JSON that is no object") }
        try items.list(until: "}") { items throws(UpstreamError) in
            guard items.peek() == "\"", case .string(let key)? = try? JSON.parse(items.value()), items.peek() == ":"
            else { throw broken }
            items.position += 1
            let value = try items.value()
            try items.spend(value)
            if members.count > usualMembers { budget.spend(bytes: key.utf8.count + memberCost) }
            guard members.updateValue(value, forKey: key) == nil else {
                throw .unusable("answered with JSON in which \(UpstreamError.cut(key, to: 40)) stands twice")
            }
        }
        return members
    }

    private func spend(_ value: ArraySlice<UInt8>) throws(UpstreamError) {
        budget.read(bytes: value.count)
        budget.spend(elements: 1)
        try budget.check()
    }

    /// Steps over an opening bracket, all elements, and the closing bracket, which must be the end of the document.
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
        guard peek() == nil else { throw .unusable("answered with JSON and more text behind it") }
    }

    /// The next byte that is not white space.
    private mutating func peek() -> UInt8? {
        while position < bytes.endIndex {
            if !isWhiteSpace(bytes[position]) { return bytes[position] }
            position += 1
        }
        return nil
    }

    /// Steps over a value: to the bracket that closes its first one, to the closing quote, or to the end of the word.
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
    private static let cut = UpstreamError.unusable("answered with JSON that breaks off")
}

// The members of an upstream's object, if they are of the type that is wanted; nil for anything else.

extension JSONObject {
    /// An object in an array; nil also for one that is too long to be parsed.
    init?(item: ArraySlice<UInt8>) {
        guard item.count <= JSONItems.maximumItem, case .object(let object)? = try? JSON.parse(item) else { return nil }
        self = object
    }

    func text(_ key: String) -> String? {
        guard case .string(let text)? = self[key] else { return nil }
        return text
    }

    /// A whole number that is not negative, also in a text of digits.
    func number(_ key: String) -> Int? {
        let number: Int? =
            switch self[key] {
            case .integer(let number)?: Int(number)
            case .double(let number)?: Int(exactly: number)
            case .string(let text)? where isNumber(text): Int(text)
            default: nil
            }
        // What is larger could not be written again.
        return number.flatMap { (0...Int(JSON.maximumInteger)).contains($0) ? $0 : nil }
    }

    /// A Boolean, also as 0 or another number.
    func truth(_ key: String) -> Bool? {
        guard case .bool(let truth)? = self[key] else { return number(key).map { $0 != 0 } }
        return truth
    }

    /// A text or a whole number; nil if it is empty.
    func id(_ key: String) -> String? {
        switch self[key] {
        case .string(let id)? where !id.isEmpty: id
        case .integer(let id)?: String(id)
        default: nil
        }
    }

    /// An `http` or `https` URL of at most 2,048 bytes, byte for byte.
    func url(_ key: String) -> String? { text(key).flatMap { $0.utf8.count <= 2048 && HTTPURL($0) != nil ? $0 : nil } }

    func date(_ key: String) -> Timestamp? { text(key).flatMap(UpstreamDate.parse) }

    func object(_ key: String) -> JSONObject? {
        guard case .object(let object)? = self[key] else { return nil }
        return object
    }

    /// The objects in an array.
    func objects(_ key: String) -> [JSONObject] {
        elements(key).compactMap { if case .object(let object) = $0 { object } else { nil } }
    }

    /// The texts in an array.
    func texts(_ key: String) -> [String] {
        elements(key).compactMap { if case .string(let text) = $0 { text } else { nil } }
    }

    private func elements(_ key: String) -> [JSON] {
        guard case .array(let elements)? = self[key] else { return [] }
        return elements
    }
}
