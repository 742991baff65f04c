import NorrisProtocol

// What an upstream's object holds, if it is of the type that is wanted; nil for anything else.

extension JSONObject {
    func text(_ key: String) -> String? {
        guard case .string(let text)? = self[key] else { return nil }
        return text
    }

    func number(_ key: String) -> Int? {
        guard case .integer(let number)? = self[key] else { return nil }
        return Int(number)
    }

    func truth(_ key: String) -> Bool? {
        guard case .bool(let truth)? = self[key] else { return nil }
        return truth
    }

    func object(_ key: String) -> JSONObject? {
        guard case .object(let object)? = self[key] else { return nil }
        return object
    }

    /// Empty for anything but an array.
    func elements(_ key: String) -> [JSON] {
        guard case .array(let elements)? = self[key] else { return [] }
        return elements
    }

    /// A text or a whole number, as upstreams write ids; nil if it is empty.
    func id(_ key: String) -> String? {
        switch self[key] {
        case .string(let id)? where !id.isEmpty: id
        case .integer(let id)?: String(id)
        default: nil
        }
    }
}
