package import NorrisProtocol

/// Sends requests: all that an upstream needs of a network.
package protocol HTTPTransport: Sendable {
    /// Sends a GET request and reads the whole response.
    ///
    /// - Returns: a response of status 200, or 304 if the request was conditional; any other status is an error.
    func send(_ request: HTTPRequest) async throws(UpstreamError) -> HTTPResponse
}

/// A GET request.
package struct HTTPRequest: Sendable {
    /// Absolute, `http` or `https`, already percent-encoded.
    package var url: String
    package var headers: [(name: String, value: String)] = []
    /// For the whole request: connecting, redirects, the body.
    package var timeout: Duration
}

/// A whole, inflated response.
package struct HTTPResponse: Sendable {
    package var status: Int
    package var headers: HTTPHeaderFields = []
    package var body: [UInt8] = []
    /// Where it came from after all redirects; nil if that is not known.
    package var url: HTTPURL?
    /// What the dates in its header fields are compared with.
    package var receivedAt: Timestamp
    /// Counts the body as memory until the response is gone.
    var memory: MemoryLease?
}

/// Header fields in the order of their arrival; names are looked up without regard to case (RFC 9110, section 5.1).
package struct HTTPHeaderFields: Sendable, ExpressibleByArrayLiteral {
    private let fields: [(name: String, value: String)]

    package init(_ fields: [(name: String, value: String)]) { self.fields = fields }

    package init(arrayLiteral elements: (String, String)...) { fields = elements.map { (name: $0.0, value: $0.1) } }

    /// The value of the first field of a name.
    package subscript(_ name: String) -> String? { all(name).first }

    /// The values of all fields of a name.
    package func all(_ name: String) -> [String] {
        let name = name.lowercased()
        return fields.filter { $0.name.lowercased() == name }.map(\.value)
    }
}

/// What all requests have in common, as configured under `http`.
package struct HTTPSettings: Sendable, Equatable {
    /// The longest silence: until the first byte of a response, and between any two. Connecting takes at most 5 s, and
    /// never longer than this. The timeout of a request bounds the whole.
    package var timeout: Duration
    /// In bytes, before inflating as well as after; a longer body is refused while it arrives.
    package var maximumBody: Int
    package var userAgent: String
    package var proxy: HTTPProxySettings?
    /// The path of a PEM file of trusted certificates, in place of the system's (`SSL_CERT_FILE`).
    package var trustRoots: String?

    package init(
        timeout: Duration, maximumBody: Int = 16 << 20, userAgent: String, proxy: HTTPProxySettings? = nil,
        trustRoots: String? = nil
    ) {
        self.timeout = timeout
        self.maximumBody = maximumBody
        self.userAgent = userAgent
        self.proxy = proxy
        self.trustRoots = trustRoots
    }

    var connectTimeout: Duration { min(.seconds(5), timeout) }
}

/// An HTTP proxy: used with CONNECT for `https`, and with the whole URL for `http` (RFC 9112, section 3.2.2).
package struct HTTPProxySettings: Sendable, Equatable {
    /// An IPv6 address without brackets.
    package var host: String
    package var port: Int
    package var user: String?
    package var password: String?

    package init(host: String, port: Int, user: String? = nil, password: String? = nil) {
        self.host = host
        self.port = port
        self.user = user
        self.password = password
    }
}

extension HTTPProxySettings: CustomStringConvertible, CustomDebugStringConvertible {
    /// Host and port as in a URL, without user and password, so that it may be logged.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    package var debugDescription: String { description }
}
