/// The parameters of a request after ``MethodDescription/arguments(from:)`` has checked them against the table.
///
/// A getter that does not fit the checked shape answers nil, as if the parameter were absent.
package struct Arguments: Sendable {
    private let object: JSONObject

    init(_ object: JSONObject) {
        self.object = object
    }

    package func isGiven(_ name: String) -> Bool {
        object[name] != nil
    }

    package func string(_ name: String) -> String? {
        guard case .string(let string)? = object[name] else { return nil }
        return string
    }

    package func integer(_ name: String) -> Int? {
        guard case .integer(let integer)? = object[name] else { return nil }
        return Int(integer)
    }

    package func flag(_ name: String) -> Bool {
        guard case .bool(let flag)? = object[name] else { return false }
        return flag
    }

    /// A parameter that is a string or a list of strings, as a list; empty where it is absent.
    package func strings(_ name: String) -> [String] {
        switch object[name] {
        case .string(let string)?: return [string]
        case .array(let elements)?:
            return elements.compactMap { element in
                guard case .string(let string) = element else { return nil }
                return string
            }
        default: return []
        }
    }

    /// A parameter that is a list of objects; empty where it is absent.
    ///
    /// - Throws: `-32602`, naming what in it is wrong.
    package func values<Value: JSONDecodable>(_ name: String) throws(ResponseError) -> [Value] {
        do {
            return try object.optional(name) ?? []
        } catch {
            throw .invalidParams("\(error)", parameter: name)
        }
    }
}
