/// The parameters of a request after ``MethodDescription/arguments(in:params:)`` has checked them against the table.
///
/// They are read from the request's line when somebody asks. A getter that does not fit the checked shape answers nil,
/// as if the parameter were absent.
package struct Arguments: Sendable {
    private final class Content: Sendable {
        let line: ArraySlice<UInt8>
        let parameters: [MethodDescription.Parameter]
        /// The value of each parameter of the table, where it was sent.
        let values: [JSONToken?]

        init(_ line: ArraySlice<UInt8>, _ parameters: [MethodDescription.Parameter], _ values: [JSONToken?]) {
            (self.line, self.parameters, self.values) = (line, parameters, values)
        }
    }

    /// nil without parameters.
    private let content: Content?

    /// Of a request without parameters.
    init() {
        content = nil
    }

    init(line: ArraySlice<UInt8>, parameters: [MethodDescription.Parameter], values: [JSONToken?]) {
        content = Content(line, parameters, values)
    }

    /// Whether no parameter was sent.
    package var isEmpty: Bool { content == nil }

    package func isGiven(_ name: String) -> Bool {
        value(name) != nil
    }

    package func string(_ name: String) -> String? {
        guard let content, let token = value(name), token.kind == .string else { return nil }
        return content.line.withRawBytes { token.text(in: $0) }
    }

    package func integer(_ name: String) -> Int? {
        guard let content, let token = value(name), token.kind == .integer else { return nil }
        return content.line.withRawBytes { Int(JSONParser($0).integer(of: token)) }
    }

    package func flag(_ name: String) -> Bool {
        value(name)?.kind == .true
    }

    /// A parameter that is a string or a list of strings, as a list; empty where it is absent.
    package func strings(_ name: String) -> [String] {
        guard let content, let token = value(name) else { return [] }
        return content.line.withRawBytes { bytes in
            let parser = JSONParser(bytes)
            guard token.kind == .array else { return token.kind == .string ? [parser.text(of: token)] : [] }
            var texts: [String] = []
            parser.forEachElement(of: token) { if $0.kind == .string { texts.append(parser.text(of: $0)) } }
            return texts
        }
    }

    /// A parameter that is a list of objects; empty where it is absent.
    ///
    /// - Throws: `-32602`, naming what in it is wrong.
    package func values<Value: JSONDecodable>(_ name: String) throws(ResponseError) -> [Value] {
        guard let content, let token = value(name) else { return [] }
        do {
            let line = content.line
            let (first, last) = (token.range.lowerBound, token.range.upperBound)
            let value = try JSON.parse(line[line.startIndex + first..<line.startIndex + last])
            return try JSONObject(dictionaryLiteral: (name, value)).required(name)
        } catch {
            throw .invalidParams("\(error)", parameter: name)
        }
    }

    private func value(_ name: String) -> JSONToken? {
        guard let content, let index = content.parameters.firstIndex(where: { $0.name == name }) else { return nil }
        return content.values[index]
    }
}

extension MethodDescription {
    /// Checks the parameters of a request, all of them before any effect.
    ///
    /// - Parameter params: of this line.
    /// - Throws: `-32602`, naming the first parameter that is unknown, missing or ill-typed.
    package func arguments(
        in line: ArraySlice<UInt8>, params: JSONToken?
    ) throws(ResponseError) -> Arguments {
        if params == nil, !needsParameters { return Arguments() }
        var values: [JSONToken?] = []
        if let params {
            guard params.kind == .object else {
                throw .invalidParams(
                    "The parameters of \(name) are given by name.",
                    hint: "Send params as an object."
                )
            }
            values = try line.withRawBytes { bytes throws(ResponseError) in
                try self.values(of: params, JSONParser(bytes))
            }
        }
        if needsParameters {
            for (index, parameter) in parameters.enumerated()
            where parameter.isRequired && (values.isEmpty || values[index] == nil) {
                throw .invalidParams(
                    "\(name) needs the parameter \(parameter.name): \(parameter.schema.requirement).",
                    parameter: parameter.name
                )
            }
        }
        return values.isEmpty ? Arguments() : Arguments(line: line, parameters: parameters, values: values)
    }

    private func values(of params: JSONToken, _ parser: JSONParser) throws(ResponseError) -> [JSONToken?] {
        var values: [JSONToken?] = []
        var fault: ResponseError?
        parser.forEachMember(of: params) { key, value in
            guard fault == nil else { return }
            guard let index = parameters.firstIndex(where: { parser.isText($0.name, key) }) else {
                let key = parser.text(of: key)
                fault = .invalidParams(
                    "\(name) has no parameter \(key.quotedForMessage).",
                    parameter: key,
                    hint: unknownParameterHint
                )
                return
            }
            guard parameters[index].schema.accepts(value, parser) else {
                let key = parameters[index].name
                fault = .invalidParams("\(key) must be \(parameters[index].schema.requirement).", parameter: key)
                return
            }
            if values.isEmpty { values = Array(repeating: nil, count: parameters.count) }
            values[index] = value
        }
        if let fault { throw fault }
        return values
    }

    private var unknownParameterHint: String {
        parameters.isEmpty
            ? "It takes none."
            : "It takes " + parameters.map(\.name).joined(separator: ", ") + "."
    }
}
