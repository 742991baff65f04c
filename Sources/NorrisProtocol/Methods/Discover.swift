/// `rpc.discover`: the OpenRPC document of this daemon, made from ``MethodTable``.
package enum Discover {
    package static let description = MethodDescription(
        "rpc.discover",
        summary: "Describes all methods as an OpenRPC document.",
        result: .reference("OpenRPC")
    )

    /// The document itself (OpenRPC specification 1.3.2).
    package static func document(version: String) -> JSON {
        [
            "openrpc": "1.3.2",
            "info": ["title": "norrisd", "version": .string(version)],
            "methods": .array(MethodTable.methods.map(method)),
            "components": ["schemas": .object(SharedSchemas.document)],
        ]
    }

    private static func method(_ description: MethodDescription) -> JSON {
        [
            "name": .string(description.name),
            "summary": .string(description.summary),
            "paramStructure": "by-name",
            "params": .array(description.parameters.map(parameter)),
            "result": ["name": "result", "schema": description.result.document],
            "x-admin": .bool(description.isAdministrative),
        ]
    }

    private static func parameter(_ parameter: MethodDescription.Parameter) -> JSON {
        [
            "name": .string(parameter.name),
            "summary": .string(parameter.summary),
            "required": .bool(parameter.isRequired),
            "schema": parameter.schema.document,
        ]
    }
}
