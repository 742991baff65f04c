import NorrisProtocol
import NorrisTestSupport
import Testing

struct MethodTableTests {
    @Test func hasTheMethodsOfThisVersion() {
        #expect(
            MethodTable.methods.map(\.name) == [
                "author.list", "cache.clear", "event.subscribe", "fact.categories", "fact.get", "fact.random",
                "fact.search", "fact.today", "favorite.add", "favorite.import", "favorite.list", "favorite.remove",
                "gif.get", "gif.random", "gif.search", "gif.trending", "mute.add", "mute.list", "mute.remove",
                "post.article", "post.get", "post.list", "post.mark_read",
                "post.mark_unread", "post.search", "post.sources",
                "recent.clear", "recent.list", "recent.served", "rpc.discover", "server.info", "server.metrics",
                "server.reload", "server.status", "source.add", "source.edit", "source.refresh", "source.remove",
            ])
        #expect(
            MethodTable.methods.filter(\.isAdministrative).map(\.name)
                == ["cache.clear", "server.reload", "source.add", "source.edit", "source.remove"])
        #expect(
            MethodTable.capabilities == [
                "author", "cache", "event", "fact", "favorite", "gif", "mute", "post", "recent", "rpc", "server",
                "source",
            ])
    }

    @Test("A name is a group and a verb, in lower case") func hasValidNames() throws {
        for method in MethodTable.methods {
            #expect(method.name.wholeMatch(of: /[a-z]+\.[a-z]+(_[a-z]+)*/) != nil, "\(method.name)")
            for parameter in method.parameters {
                #expect(parameter.name.wholeMatch(of: /[a-z]+(_[a-z]+)*/) != nil, "\(method.name) \(parameter.name)")
            }
            #expect(Set(method.parameters.map(\.name)).count == method.parameters.count, "\(method.name)")
        }
    }
}

struct PostSourceKindTests {
    @Test func theAddressOfEachKindIsDescribed() {
        let summary = "\(PostSourceKind.addressSummary)"
        for kind in PostSourceKind.addable where kind != .feed {
            #expect(summary.contains("for \(kind.rawValue) "), "PostSourceKind.addressSummary in SourceMethods.swift")
        }
    }
}

struct SchemaTests {
    @Test(
        "A schema as JSON Schema, and in the short form of the manual",
        arguments: [
            (Schema.boolean, #"{"type":"boolean"}"#, "true|false"),
            (.date, #"{"type":"string","format":"date"}"#, "\"YYYY-MM-DD\""),
            (.integer(1...100), #"{"type":"integer","minimum":1,"maximum":100}"#, "1…100"),
            (.integer(1...9, default: 5), #"{"type":"integer","minimum":1,"maximum":9,"default":5}"#, "1…9"),
            (.count, #"{"type":"integer","minimum":0}"#, "integer"), (.string, #"{"type":"string"}"#, "string"),
            (.text(1...64), #"{"type":"string","minLength":1,"maxLength":64}"#, "string(1…64)"),
            (.word(["ok", "degraded"]), #"{"type":"string","enum":["ok","degraded"]}"#, #""ok"|"degraded""#),
            (
                .stringOrStrings,
                #"{"oneOf":[{"type":"string"},{"type":"array","items":{"type":"string"},"minItems":1}]}"#,
                "string|[string]"
            ), (.timestamp, #"{"type":"string","format":"date-time"}"#, "time"),
            (.list(.count), #"{"type":"array","items":{"type":"integer","minimum":0}}"#, "[integer]"),
            (.nullable(.boolean), #"{"oneOf":[{"type":"boolean"},{"type":"null"}]}"#, "true|false|null"),
            (.reference("Fact"), ##"{"$ref":"#/components/schemas/Fact"}"##, "Fact"),
            (
                .object([
                    Schema.Member(name: "fact", schema: .reference("Fact"), isRequired: true),
                    Schema.Member(name: "next", schema: .string, isRequired: false),
                ]),
                ##"{"type":"object","properties":{"fact":{"$ref":"#/components/schemas/Fact"},"##
                    + #""next":{"type":"string"}},"required":["fact"]}"#, "{fact:Fact,next?:string}"
            ), (.object([]), #"{"type":"object","properties":{},"required":[]}"#, "{}"),
            (
                .dictionary(.count), #"{"type":"object","additionalProperties":{"type":"integer","minimum":0}}"#,
                "{name:integer}"
            ),
        ])
    func hasItsDocument(_ schema: Schema, _ json: String, _ short: String) {
        checkEncoding(schema, json: json)
        #expect(schema.description == short)
    }
}

/// The document structure of the OpenRPC specification 1.3.2.
struct DiscoverTests {
    private let document: JSONObject

    init() throws { document = try Discover.Result(version: "1.2.3").document.objectValue() }

    @Test("A content descriptor has a name and a schema; names of parameters are unique")
    func hasContentDescriptors() throws {
        #expect(document["openrpc"] == "1.3.2")
        #expect(document["info"] == ["title": "norrisd", "version": "1.2.3"])
        #expect(try methods.map { try $0.required("name", as: String.self) } == MethodTable.methods.map(\.name))
        for (method, description) in zip(try methods, MethodTable.methods) {
            #expect(method["paramStructure"] == "by-name")
            #expect(method["x-admin"] == .bool(description.isAdministrative))
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
        // Every schema is referenced.
        for (name, _) in schemas.members { #expect(found.contains(prefix + name), "\(name)") }
    }

    @Test("Schemas use the keywords of JSON Schema, draft 7, only") func usesKnownKeywords() throws {
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
