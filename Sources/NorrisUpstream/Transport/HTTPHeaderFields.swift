/// Header fields in the order of their arrival; names are looked up without regard to case (RFC 9110, section 5.1).
package struct HTTPHeaderFields: Sendable, ExpressibleByArrayLiteral {
    private let fields: [(name: String, value: String)]

    package init(_ fields: some Sequence<(name: String, value: String)>) {
        self.fields = Array(fields)
    }

    package init(arrayLiteral elements: (String, String)...) {
        fields = elements.map { (name: $0.0, value: $0.1) }
    }

    /// The value of the first field of a name.
    package subscript(_ name: String) -> String? {
        all(name).first
    }

    /// The values of all fields of a name.
    package func all(_ name: String) -> [String] {
        let name = name.lowercased()
        return fields.filter { $0.name.lowercased() == name }.map(\.value)
    }
}
