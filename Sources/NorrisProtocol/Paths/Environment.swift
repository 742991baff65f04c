/// The variables of a process, each looked up when somebody asks for it.
///
/// Reading all of them into a dictionary first takes a tenth of the time of a call from a shell's prompt.
package struct Environment: Sendable {
    private let lookUp: @Sendable (String) -> String?

    /// - Parameter lookUp: the value of a variable; nil if it is not set.
    package init(_ lookUp: @escaping @Sendable (String) -> String?) {
        self.lookUp = lookUp
    }

    package init(_ variables: [String: String]) {
        self.init { variables[$0] }
    }

    package subscript(_ name: String) -> String? { lookUp(name) }

    /// The value of a variable that is set and not empty.
    package func value(of name: String) -> String? {
        guard let value = self[name], !value.isEmpty else { return nil }
        return value
    }
}

extension Environment: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, String)...) {
        self.init(Dictionary(uniqueKeysWithValues: elements))
    }
}
