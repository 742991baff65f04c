/// What a method is called, what it takes and what it gives: the one source of dispatch, `rpc.discover` and the manual.
package struct MethodDescription: Sendable {
    package let name: String
    /// One sentence for the documents.
    package let summary: String
    /// Whether only administrators may call it.
    package let isAdministrative: Bool
    package let parameters: [Parameter]
    package let result: Schema
    /// Whether any parameter must be there.
    let needsParameters: Bool

    /// A parameter, always given by name.
    package struct Parameter: Sendable {
        package let name: String
        package let schema: Schema
        package let isRequired: Bool
        package let summary: String

        package static func required(_ name: String, _ schema: Schema, _ summary: String) -> Parameter {
            Parameter(name: name, schema: schema, isRequired: true, summary: summary)
        }

        package static func optional(_ name: String, _ schema: Schema, _ summary: String) -> Parameter {
            Parameter(name: name, schema: schema, isRequired: false, summary: summary)
        }
    }

    package init(
        _ name: String,
        summary: String,
        isAdministrative: Bool = false,
        parameters: [Parameter] = [],
        result: Schema
    ) {
        self.name = name
        self.summary = summary
        self.isAdministrative = isAdministrative
        self.parameters = parameters
        self.result = result
        needsParameters = parameters.contains { $0.isRequired }
    }
}
