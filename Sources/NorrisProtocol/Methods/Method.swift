/// A method of the protocol: its name, parameters and result.
///
/// The declarations determine the server's dispatch and checks, client requests, `rpc.discover` and the manual.
package protocol Method {
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

    package init<M: Method>(_ method: M.Type) {
        self.init(
            name: M.name, summary: M.summary, isAdministrative: M.isAdministrative, parameters: M.Parameters.members,
            result: M.Result.schema)
    }

    package init(
        name: String, summary: String, isAdministrative: Bool = false, parameters: [Schema.Member], result: Schema
    ) {
        (self.name, self.summary, self.isAdministrative) = (name, summary, isAdministrative)
        (self.parameters, self.result) = (parameters, result)
        needsParameters = parameters.contains(where: \.isRequired)
    }
}

/// All methods of the protocol, sorted by name. CONTRIBUTING.md lists the steps to add a method.
package enum MethodTable {
    package static let methods: [MethodDescription] = [
        MethodDescription(AuthorList.self), MethodDescription(CacheClear.self), MethodDescription(EventSubscribe.self),
        MethodDescription(FactCategories.self), MethodDescription(FactGet.self), MethodDescription(FactRandom.self),
        MethodDescription(FactSearch.self), MethodDescription(FactToday.self), MethodDescription(FavoriteAdd.self),
        MethodDescription(FavoriteImport.self), MethodDescription(FavoriteList.self),
        MethodDescription(FavoriteRemove.self), MethodDescription(GifGet.self), MethodDescription(GifRandom.self),
        MethodDescription(GifSearch.self), MethodDescription(GifTrending.self), MethodDescription(PostGet.self),
        MethodDescription(PostList.self), MethodDescription(PostMarkRead.self), MethodDescription(PostMarkUnread.self),
        MethodDescription(PostSearch.self), MethodDescription(PostSources.self), MethodDescription(RecentClear.self),
        MethodDescription(RecentList.self), MethodDescription(RecentServed.self), MethodDescription(Discover.self),
        MethodDescription(ServerInfo.self), MethodDescription(ServerMetrics.self), MethodDescription(ServerReload.self),
        MethodDescription(ServerStatus.self), MethodDescription(SourceAdd.self), MethodDescription(SourceRefresh.self),
        MethodDescription(SourceRemove.self),
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
        /// The value of each parameter in the order of the method's description; nil if it was not sent.
        let values: [JSONToken?]

        init(_ line: ArraySlice<UInt8>, _ values: [JSONToken?]) { (self.line, self.values) = (line, values) }
    }

    /// nil without parameters.
    private let content: Content?

    init() { content = nil }

    init(line: ArraySlice<UInt8>, values: [JSONToken?]) { content = Content(line, values) }

    package var isEmpty: Bool { content == nil }

    fileprivate var reader: Reader {
        content.map { Reader(line: $0.line, values: $0.values[...]) } ?? Reader(line: [], values: [])
    }

    /// Returns the values in the order of the method's description, which is also the order of `visit`.
    fileprivate struct Reader: MemberVisitor {
        let line: ArraySlice<UInt8>
        var values: ArraySlice<JSONToken?>

        mutating func member<Value: WireValue>(
            _ name: StaticString, _ value: inout Value?, _ presence: Presence, _ schema: () -> Schema,
            _ summary: StaticString
        ) throws(ResponseError) {
            guard let sent = values.popFirst(), let token = sent else { return value = nil }
            do throws(JSONDecodingError) {
                value = try line.withRawBytes { bytes throws(JSONDecodingError) in
                    try Value(token: token, of: bytes)
                }
            } catch {
                throw .invalidParams("\(error.below("\(name)"))", parameter: "\(name)")
            }
        }
    }
}

extension WireObject {
    package init(_ arguments: Arguments) throws(ResponseError) {
        self.init()
        try read(arguments)
    }

    @inline(__always) mutating func read(_ arguments: Arguments) throws(ResponseError) {
        var reader = arguments.reader
        try visit(&reader)
    }
}

extension MethodDescription {
    /// Validates all parameters of a request before any effect of the method.
    ///
    /// - Parameter params: a token of this line.
    /// - Throws: `-32602` with the name of the first parameter that is unknown, missing or of the wrong type.
    package func arguments(in line: ArraySlice<UInt8>, params: JSONToken?) throws(ResponseError) -> Arguments {
        if params == nil, !needsParameters { return Arguments() }
        var values: [JSONToken?] = []
        if let params {
            guard params.kind == .object else {
                throw .invalidParams("Parameters are passed by name.", hint: "Send params as an object.")
            }
            values = try line.withRawBytes { bytes throws(ResponseError) in
                try self.values(of: params, JSONParser(bytes))
            }
        }
        if needsParameters {
            for (index, parameter) in parameters.enumerated()
            where parameter.isRequired && (values.isEmpty || values[index] == nil) {
                throw .invalidParams(
                    "The parameter \(parameter.name) is missing: \(parameter.schema.requirement).",
                    parameter: parameter.name)
            }
        }
        return values.isEmpty ? Arguments() : Arguments(line: line, values: values)
    }

    private func values(of params: JSONToken, _ parser: JSONParser) throws(ResponseError) -> [JSONToken?] {
        var values: [JSONToken?] = []
        var fault: ResponseError?
        parser.forEachMember(of: params) { key, value in
            guard let index = parameters.firstIndex(where: { parser.isText($0.name, key) }) else {
                let key = parser.text(of: key)
                fault = .invalidParams(
                    "There is no parameter \(key.quotedForMessage).", parameter: key,
                    hint: parameters.isEmpty
                        ? "It takes none." : "It takes " + parameters.map(\.name).joined(separator: ", ") + ".")
                return false
            }
            guard parameters[index].schema.accepts(value, parser) else {
                let key = parameters[index].name
                fault = .invalidParams("\(key) must be \(parameters[index].schema.requirement).", parameter: key)
                return false
            }
            if values.isEmpty { values = Array(repeating: nil, count: parameters.count) }
            values[index] = value
            return true
        }
        if let fault { throw fault }
        return values
    }
}
