import NorrisProtocol
import Testing

/// The structure that the OpenRPC specification 1.3.2 asks of a document.
struct DiscoverTests {
    private let document: JSONObject

    init() throws {
        document = try Discover.Result(version: "1.2.3").document.objectValue()
    }

    @Test func saysWhatItIs() throws {
        #expect(document["openrpc"] == "1.3.2")
        #expect(document["info"] == ["title": "norrisd", "version": "1.2.3"])
        #expect(document.members.map(\.key) == ["openrpc", "info", "methods", "components"])
    }

    @Test func isOneLineOfStrictJSON() throws {
        let text = Discover.Result(version: "1.2.3").jsonText
        #expect(try JSON.parse(text) == .object(document))
        #expect(!text.utf8.contains(UInt8(ascii: "\n")))
    }

    @Test func hasEveryMethodOfTheTable() throws {
        #expect(try methods.map { try $0.required("name", as: String.self) } == MethodTable.methods.map(\.name))
        for (method, description) in zip(try methods, MethodTable.methods) {
            #expect(method["summary"] == .string(description.summary))
            #expect(method["paramStructure"] == "by-name")
            #expect(method["x-admin"] == .bool(description.isAdministrative))
        }
    }

    @Test("A content descriptor has a name and a schema; names of parameters are unique")
    func hasContentDescriptors() throws {
        for (method, description) in zip(try methods, MethodTable.methods) {
            let parameters = try method.required("params", as: [JSONObject].self)
            #expect(parameters.count == description.parameters.count)
            for (parameter, described) in zip(parameters, description.parameters) {
                #expect(parameter["name"] == .string(described.name))
                #expect(parameter["summary"] == .string(described.summary))
                #expect(parameter["required"] == .bool(described.isRequired))
                #expect(try !parameter.required("schema", as: JSONObject.self).members.isEmpty)
            }
            let result = try method.required("result", as: JSONObject.self)
            #expect(result["name"] == "result")
            #expect(try !result.required("schema", as: JSONObject.self).members.isEmpty)
        }
    }

    @Test("Every reference leads to a schema of the document, but for what another specification describes")
    func resolvesItsReferences() throws {
        let schemas = try document.required("components", as: JSONObject.self).required("schemas", as: JSONObject.self)
        let prefix = "#/components/schemas/"
        let found = references(in: .object(document))
        for reference in found where reference.hasPrefix(prefix) {
            #expect(schemas[String(reference.dropFirst(prefix.count))] != nil, "\(reference)")
        }
        #expect(found.filter { !$0.hasPrefix(prefix) } == ["https://meta.open-rpc.org/"])
        // No schema is carried along that nothing refers to.
        for (name, _) in schemas.members {
            #expect(found.contains(prefix + name), "\(name)")
        }
    }

    @Test("Schemas use the keywords of JSON Schema, draft 7, only")
    func usesKnownKeywords() throws {
        let known: Set = [
            "$ref", "type", "properties", "required", "items", "minItems", "oneOf", "enum", "format", "minimum",
            "maximum", "default", "minLength", "maxLength", "additionalProperties",
        ]
        let components = try document.required("components", as: JSONObject.self)
        var schemas = try components.required("schemas", as: JSONObject.self).members.map(\.value)
        for method in try methods {
            schemas += try method.required("params", as: [JSONObject].self).compactMap { $0["schema"] }
            schemas += [try method.required("result", as: JSONObject.self).required("schema", as: JSON.self)]
        }
        while let schema = schemas.popLast() {
            let object = try schema.objectValue()
            #expect(Set(object.members.map(\.key)).isSubset(of: known), "\(schema)")
            schemas += try object.optional("properties", as: JSONObject.self)?.members.map(\.value) ?? []
            schemas += try object.optional("oneOf", as: [JSON].self) ?? []
            schemas += [object["items"], object["additionalProperties"]].compactMap { $0 }
            let properties = try object.optional("properties", as: JSONObject.self)?.members.map(\.key) ?? []
            #expect(Set(try object.optional("required", as: [String].self) ?? []).isSubset(of: properties))
        }
    }

    private var methods: [JSONObject] {
        get throws { try document.required("methods") }
    }

    private func references(in json: JSON) -> [String] {
        switch json {
        case .array(let elements): return elements.flatMap(references)
        case .object(let object):
            return object.members.flatMap { key, value -> [String] in
                if key == "$ref", case .string(let reference) = value { return [reference] }
                return references(in: value)
            }
        case .null, .bool, .integer, .double, .string: return []
        }
    }
}
