/// Asks one URL and gives the answer: all that an upstream needs of a network.
package protocol HTTPTransport: Sendable {
    /// Sends a GET request and reads the answer whole.
    ///
    /// - Returns: an answer of status 200, or 304 where the request was conditional; any other is an error.
    func send(_ request: HTTPRequest) async throws(UpstreamError) -> HTTPResponse
}

/// A GET request.
package struct HTTPRequest: Sendable {
    /// Absolute, `http` or `https`, already percent-encoded.
    package var url: String
    package var headers: [(name: String, value: String)]
    /// For all of it: the wait for a turn, connecting, redirects, the body.
    package var timeout: Duration

    package init(url: String, headers: [(name: String, value: String)] = [], timeout: Duration) {
        self.url = url
        self.headers = headers
        self.timeout = timeout
    }
}

/// An answer, whole and inflated.
package struct HTTPResponse: Sendable {
    package var status: Int
    package var headers: HTTPHeaderFields
    package var body: [UInt8]
    /// Where it came from in the end, behind all redirects; nil if that is not known.
    package var url: HTTPURL?

    package init(status: Int, headers: HTTPHeaderFields = [], body: [UInt8] = [], url: HTTPURL? = nil) {
        self.url = url
        self.status = status
        self.headers = headers
        self.body = body
    }
}

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
