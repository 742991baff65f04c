import NorrisProtocol

/// Hands out the elements of one array in a large document, one at a time, so that no tree of the whole is built.
///
/// The document around them is checked as it is passed: complete, balanced, of the right types, with nothing behind
/// it. What stands inside an element is only passed over, with its brackets and quotes; whether it is JSON is for
/// whoever parses it to find out, so that one bad element is no reason to refuse the others.
struct JSONItems {
    /// The longest element that is worth a look, in bytes.
    static let maximumItem = 256 * 1024
    /// Objects have fewer members than this.
    private static let usualMembers = 64
    /// What each further one takes besides its name, in bytes.
    private static let memberCost = 64

    private let bytes: UnsafeRawBufferPointer
    private let budget: DecodingBudget
    private var position = 0

    /// Calls `body` for each element, in order, with its bytes.
    ///
    /// - Parameters:
    ///   - key: the member of the outermost object that is the array; nil if the document is the array itself.
    ///   - others: takes the object's other members, but for those that are no JSON or longer than ``maximumItem``.
    /// - Throws: a fault as the end of a sentence; what `body` throws. Elements before the fault were handed out.
    static func forEach(
        in bytes: [UInt8],
        under key: String?,
        _ budget: DecodingBudget,
        others: (String, JSON) -> Void = { _, _ in },
        _ body: (UnsafeRawBufferPointer) throws(UnusableBody) -> Void
    ) throws(UnusableBody) {
        try bytes.withUnsafeBufferPointer { buffer throws(UnusableBody) in
            var items = JSONItems(bytes: UnsafeRawBufferPointer(buffer), budget)
            if let key {
                try items.object(key, others, body)
            } else {
                try items.array("the answer", body)
            }
            guard items.peek() == nil else { throw Self.goesOn }
        }
    }

    /// Where the value of each member stands in a document that is an object.
    ///
    /// - Throws: a fault as the end of a sentence, also where a name stands twice.
    static func members(of bytes: [UInt8], _ budget: DecodingBudget) throws(UnusableBody) -> [String: Range<Int>] {
        try bytes.withUnsafeBufferPointer { buffer throws(UnusableBody) in
            var items = JSONItems(bytes: UnsafeRawBufferPointer(buffer), budget)
            var members: [String: Range<Int>] = [:]
            try items.members { items, key throws(UnusableBody) in
                let value = try items.passValue()
                try items.spend(elements: value)
                if members.count > Self.usualMembers { budget.spend(bytes: key.utf8.count + Self.memberCost) }
                guard members.updateValue(value, forKey: key) == nil else {
                    throw .fault("answered with JSON in which \(UpstreamError.cut(key, to: 40)) stands twice")
                }
            }
            guard items.peek() == nil else { throw Self.goesOn }
            return members
        }
    }

    private init(bytes: UnsafeRawBufferPointer, _ budget: DecodingBudget) {
        self.bytes = bytes
        self.budget = budget
    }

    /// For a value that is passed over or, if it is not too long for that, read.
    private func spend(_ value: Range<Int>) throws(UnusableBody) {
        if value.count <= Self.maximumItem { budget.spend(bytes: value.count) }
        try spend(elements: value)
    }

    private func spend(elements value: Range<Int>) throws(UnusableBody) {
        budget.read(bytes: value.count)
        budget.spend(elements: 1)
        try budget.check()
    }

    private mutating func object(
        _ wanted: String,
        _ others: (String, JSON) -> Void,
        _ body: (UnsafeRawBufferPointer) throws(UnusableBody) -> Void
    ) throws(UnusableBody) {
        var isFound = false
        try members { items, key throws(UnusableBody) in
            if key.hasSameBytes(as: wanted) {
                guard !isFound else { throw .fault("answered with JSON in which \(wanted) stands twice") }
                isFound = true
                try items.array(wanted, body)
            } else {
                let value = try items.passValue()
                try items.spend(value)
                // No tree of megabytes for a member that nobody wants.
                if value.count <= Self.maximumItem, let json = try? JSON.parse(items.slice(value)) {
                    others(key, json)
                }
            }
        }
        guard isFound else { throw .fault("answered with JSON without \(wanted)") }
    }

    /// - Parameter value: steps over the value of a member.
    private mutating func members(
        _ value: (inout JSONItems, _ key: String) throws(UnusableBody) -> Void
    ) throws(UnusableBody) {
        guard peek() == UInt8(ascii: "{") else { throw .fault("answered with JSON that is no object") }
        position += 1
        if peek() == UInt8(ascii: "}") {
            position += 1
            return
        }
        repeat {
            guard peek() == UInt8(ascii: "\""), case .string(let key)? = try? JSON.parse(slice(try passValue()))
            else { throw Self.broken }
            try take(UInt8(ascii: ":"))
            try value(&self, key)
        } while try goesOn(before: UInt8(ascii: "}"))
    }

    private mutating func array(
        _ name: String, _ body: (UnsafeRawBufferPointer) throws(UnusableBody) -> Void
    ) throws(UnusableBody) {
        guard peek() == UInt8(ascii: "[") else { throw .fault("answered with JSON in which \(name) is no array") }
        position += 1
        if peek() == UInt8(ascii: "]") {
            position += 1
            return
        }
        repeat {
            let item = try passValue()
            try spend(item)
            try body(slice(item))
        } while try goesOn(before: UInt8(ascii: "]"))
    }

    /// Steps over the comma (true) or the closing bracket (false) behind an element.
    private mutating func goesOn(before bracket: UInt8) throws(UnusableBody) -> Bool {
        let byte = peek()
        guard byte == UInt8(ascii: ",") || byte == bracket else { throw Self.broken }
        position += 1
        return byte != bracket
    }

    private mutating func take(_ byte: UInt8) throws(UnusableBody) {
        guard peek() == byte else { throw Self.broken }
        position += 1
    }

    /// The next byte that is not white space.
    private mutating func peek() -> UInt8? {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position += 1
            case let byte: return byte
            }
        }
        return nil
    }

    /// Steps over a value: to the bracket that closes its first one, to the closing quote, or to the end of the word.
    private mutating func passValue() throws(UnusableBody) -> Range<Int> {
        guard let first = peek() else { throw Self.cut }
        let start = position
        switch first {
        case UInt8(ascii: "\""):
            try passString()
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            try passBrackets()
        default:
            while position < bytes.count, !Self.endsWord(bytes[position]) { position += 1 }
        }
        guard start < position else { throw Self.broken }
        return start..<position
    }

    /// A bit for each open bracket, the innermost lowest: set for `[`.
    private mutating func passBrackets() throws(UnusableBody) {
        var open: UInt64 = 0
        var depth = 0
        repeat {
            guard position < bytes.count else { throw Self.cut }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                try passString()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard depth < 64 else { throw .fault("answered with JSON that is nested too deeply") }
                open = open << 1 | (bytes[position] == UInt8(ascii: "[") ? 1 : 0)
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard open & 1 == (bytes[position] == UInt8(ascii: "]") ? 1 : 0) else { throw Self.broken }
                open >>= 1
                depth -= 1
            default:
                break
            }
            position += 1
        } while depth > 0
    }

    private mutating func passString() throws(UnusableBody) {
        position += 1
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"):
                position += 2
            default:
                position += 1
            }
        }
        throw Self.cut
    }

    private func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[range])
    }

    private static func endsWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: "{"),
            UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"),
            UInt8(ascii: "\t"):
            true
        default:
            false
        }
    }

    private static let broken = UnusableBody.fault("answered with something that is not JSON")
    private static let goesOn = UnusableBody.fault("answered with JSON that goes on behind its end")
    private static let cut = UnusableBody.fault("answered with JSON that breaks off")
}
