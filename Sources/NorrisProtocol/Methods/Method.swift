/// A method of the protocol: its name, parameters and result.
///
/// The declarations determine the server's dispatch and checks, client requests, `rpc.discover` and the manual.
package protocol Method: SendableMetatype {
    associatedtype Parameters: WireObject & Sendable = NoMembers
    associatedtype Result: WireValue & SendableMetatype
    static var name: String { get }
    /// One sentence for the documentation.
    static var summary: String { get }
    /// Whether only administrators may call the method.
    static var isAdministrative: Bool { get }
}

extension Method { package static var isAdministrative: Bool { false } }

/// The description of a ``Method``, as a value.
package struct MethodDescription: Sendable {
    package let name: String
    package let summary: String
    package let isAdministrative: Bool
    /// The parameters, always passed by name.
    package let parameters: [Schema.Member]
    package let result: Schema
    let needsParameters: Bool
}

extension MethodDescription {
    package init<M: Method>(_ method: M.Type) {
        let parameters = M.Parameters.members
        self.init(
            name: M.name, summary: M.summary, isAdministrative: M.isAdministrative, parameters: parameters,
            result: M.Result.schema, needsParameters: parameters.contains(where: \.isRequired))
    }
}

/// All methods of the protocol, sorted by name. CONTRIBUTING.md lists the steps to add a method.
package enum MethodTable {
    package static let methods = types.map { MethodDescription($0) }

    static let types: [any Method.Type] = [
        AuthorList.self, CacheClear.self, EventSubscribe.self, FactCategories.self, FactGet.self, FactRandom.self,
        FactSearch.self, FactToday.self, FavoriteAdd.self, FavoriteImport.self, FavoriteList.self, FavoriteRemove.self,
        GifGet.self, GifRandom.self, GifSearch.self, GifTrending.self, MuteAdd.self, MuteList.self, MuteRemove.self,
        PostArticle.self, PostGet.self, PostList.self, PostMarkRead.self, PostMarkUnread.self, PostSearch.self,
        PostSources.self, RecentClear.self, RecentList.self, RecentServed.self, Discover.self, ServerInfo.self,
        ServerMetrics.self, ServerReload.self, ServerStatus.self, SourceAdd.self, SourceEdit.self, SourceRefresh.self,
        SourceRemove.self,
    ]

    /// The name prefixes before the dot, which `server.info` returns as the capabilities of this daemon.
    package static let capabilities = Set(methods.compactMap { $0.name.split(separator: ".").first.map(String.init) })
        .sorted()
}

// MARK: Parameters

/// The parameters of a request, after ``MethodDescription/arguments(in:params:)`` has validated them.
package struct Arguments: Sendable {
    private final class Content: Sendable {
        let line: ArraySlice<UInt8>
        let members: [(key: JSONToken, value: JSONToken)]

        init(_ line: ArraySlice<UInt8>, _ members: [(key: JSONToken, value: JSONToken)]) {
            (self.line, self.members) = (line, members)
        }
    }

    /// nil without parameters.
    private let content: Content?

    init() { content = nil }

    init(line: ArraySlice<UInt8>, members: [(key: JSONToken, value: JSONToken)]) { content = Content(line, members) }

    package var isEmpty: Bool { content == nil }

    @inline(__always) fileprivate func read(
        _ body: (inout JSONMembers) throws(JSONDecodingError) -> Void
    ) throws(JSONDecodingError) {
        guard let content else {
            var members = JSONMembers([], of: UnsafeRawBufferPointer(start: nil, count: 0))
            return try body(&members)
        }
        try content.line.withRawBytes { bytes throws(JSONDecodingError) in
            var members = JSONMembers(content.members, of: bytes)
            try body(&members)
        }
    }
}

extension WireObject {
    package init(_ arguments: Arguments) throws(ResponseError) {
        self.init()
        try read(arguments)
    }

    @inline(__always) mutating func read(_ arguments: Arguments) throws(ResponseError) {
        do throws(JSONDecodingError) {
            try arguments.read { members throws(JSONDecodingError) in try visit(&members) }
        } catch {
            throw .invalidParams("\(error)", parameter: String(error.path.prefix { $0 != "." }))
        }
    }
}

extension MethodDescription {
    /// Validates all parameters of a request before any effect of the method.
    ///
    /// - Parameter params: a token of this line.
    /// - Throws: `-32602` with the name of the first parameter that is unknown, missing or of the wrong type.
    package func arguments(in line: ArraySlice<UInt8>, params: JSONToken?) throws(ResponseError) -> Arguments {
        guard let params else {
            try checkPresence { _ in false }
            return Arguments()
        }
        guard params.kind == .object else {
            throw .invalidParams("Parameters are passed by name.", hint: "Send params as an object.")
        }
        return try line.withRawBytes { bytes throws(ResponseError) in
            var members: [(key: JSONToken, value: JSONToken)] = []
            var fault: ResponseError?
            JSONValue(params, of: bytes).forEachMember { key, value in
                fault = self.fault(of: key, value)
                members.append((key.token, value.token))
                return fault == nil
            }
            if let fault { throw fault }
            try checkPresence { name in members.contains { JSONValue($0.key, of: bytes).hasText(name) } }
            return members.isEmpty ? Arguments() : Arguments(line: line, members: members)
        }
    }

    private func checkPresence(_ isSent: (String) -> Bool) throws(ResponseError) {
        guard needsParameters else { return }
        for parameter in parameters where parameter.isRequired && !isSent(parameter.name) {
            throw .invalidParams(
                "The parameter \(parameter.name) is missing: \(parameter.schema.requirement).",
                parameter: parameter.name)
        }
    }

    /// The error for an unknown parameter, or a value of the wrong type.
    private func fault(of key: JSONValue, _ value: JSONValue) -> ResponseError? {
        guard let parameter = parameters.first(where: { key.hasText($0.name) }) else {
            let key = key.text ?? ""
            return .invalidParams(
                "There is no parameter \(key.quotedForMessage).", parameter: key,
                hint: parameters.isEmpty
                    ? "It takes none." : "It takes " + parameters.map(\.name).joined(separator: ", ") + ".")
        }
        if parameter.schema.accepts(value) { return nil }
        return .invalidParams(
            "\(parameter.name) must be \(parameter.schema.requirement).", parameter: parameter.name)
    }
}
