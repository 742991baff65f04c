/// A method of the protocol: what it is called, what it takes and what it returns.
///
/// The one source of the server's dispatch and parameter checks, of what clients send, of `rpc.discover` and the
/// manual.
package protocol Method {
    associatedtype Parameters: WireObject & Sendable = NoMembers
    associatedtype Result: WireValue & SendableMetatype
    static var name: String { get }
    /// One sentence for the documents.
    static var summary: String { get }
    /// Whether only administrators may call it.
    static var isAdministrative: Bool { get }
}

extension Method { package static var isAdministrative: Bool { false } }

/// What ``Method`` says of a method, as a value.
package struct MethodDescription: Sendable {
    package let name: String
    package let summary: String
    package let isAdministrative: Bool
    /// Always sent by name.
    package let parameters: [Schema.Member]
    package let result: Schema
    /// Whether any parameter must be there.
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

/// All methods of the protocol, sorted by name.
///
/// Adding one: CONTRIBUTING.md has the list of what to touch.
package enum MethodTable {
    package static let methods: [MethodDescription] = [
        MethodDescription(AuthorList.self), MethodDescription(CacheClear.self), MethodDescription(EventSubscribe.self),
        MethodDescription(FactCategories.self), MethodDescription(FactGet.self), MethodDescription(FactRandom.self),
        MethodDescription(FactSearch.self), MethodDescription(FactToday.self), MethodDescription(FavoriteAdd.self),
        MethodDescription(FavoriteImport.self), MethodDescription(FavoriteList.self),
        MethodDescription(FavoriteRemove.self), MethodDescription(GifGet.self), MethodDescription(GifRandom.self),
        MethodDescription(GifSearch.self), MethodDescription(GifTrending.self), MethodDescription(PostGet.self),
        MethodDescription(PostList.self), MethodDescription(PostMarkRead.self), MethodDescription(RecentClear.self),
        MethodDescription(RecentList.self), MethodDescription(RecentServed.self), MethodDescription(Discover.self),
        MethodDescription(ServerInfo.self), MethodDescription(ServerMetrics.self), MethodDescription(ServerReload.self),
        MethodDescription(ServerStatus.self), MethodDescription(SourceRefresh.self),
    ]

    /// The parts before the dot: what this daemon can do, as `server.info` says it.
    package static let capabilities = Set(methods.compactMap { $0.name.split(separator: ".").first.map(String.init) })
        .sorted()
}

// MARK: Parameters

/// The parameters of a request after ``MethodDescription/arguments(in:params:)`` has checked them against the table.
package struct Arguments: Sendable {
    private final class Content: Sendable {
        let line: ArraySlice<UInt8>
        /// The value of each parameter of the table, in its order, where it was sent.
        let values: [JSONToken?]

        init(_ line: ArraySlice<UInt8>, _ values: [JSONToken?]) { (self.line, self.values) = (line, values) }
    }

    /// nil without parameters.
    private let content: Content?

    /// Of a request without parameters.
    init() { content = nil }

    init(line: ArraySlice<UInt8>, values: [JSONToken?]) { content = Content(line, values) }

    /// Whether no parameter was sent.
    package var isEmpty: Bool { content == nil }

    fileprivate var reader: Reader {
        content.map { Reader(line: $0.line, values: $0.values[...]) } ?? Reader(line: [], values: [])
    }

    /// Takes the values in the order in which the table has the parameters, which comes from the same function.
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
    /// Checks the parameters of a request, all of them before any effect.
    ///
    /// - Parameter params: of this line.
    /// - Throws: `-32602`, naming the first parameter that is unknown, missing or ill-typed.
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
