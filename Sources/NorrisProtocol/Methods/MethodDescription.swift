/// What a method is called, what it takes and what it gives: the one source of dispatch, `rpc.discover` and the manual.
package struct MethodDescription: Sendable {
    package let name: String
    /// One sentence for the documents.
    package let summary: String
    /// Whether only administrators may call it.
    package let isAdministrative: Bool
    package let parameters: [Parameter]
    package let result: Schema

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
    }
}

extension MethodDescription {
    /// Checks the parameters of a request, all of them before any effect.
    ///
    /// - Throws: `-32602`, naming the first parameter that is unknown, missing or ill-typed.
    package func arguments(from params: JSON?) throws(ResponseError) -> Arguments {
        let object: JSONObject
        switch params {
        case nil: object = JSONObject()
        case .object(let members)?: object = members
        default:
            throw .invalidParams(
                "The parameters of \(name) are given by name.",
                hint: "Send params as an object."
            )
        }
        for (key, value) in object.members {
            guard let parameter = parameters.first(where: { $0.name.utf8.elementsEqual(key.utf8) }) else {
                throw .invalidParams(
                    "\(name) has no parameter \(key.quotedForMessage).",
                    parameter: key,
                    hint: unknownParameterHint
                )
            }
            guard parameter.schema.accepts(value) else {
                throw .invalidParams("\(key) must be \(parameter.schema.requirement).", parameter: key)
            }
        }
        for parameter in parameters where parameter.isRequired && object[parameter.name] == nil {
            throw .invalidParams(
                "\(name) needs the parameter \(parameter.name): \(parameter.schema.requirement).",
                parameter: parameter.name
            )
        }
        return Arguments(object)
    }

    private var unknownParameterHint: String {
        parameters.isEmpty
            ? "It takes none."
            : "It takes " + parameters.map(\.name).joined(separator: ", ") + "."
    }
}
