package import NorrisProtocol

package protocol HTTPTransport: Sendable {
    /// Sends a GET request. Returns a response of status 200, or of 304 to a conditional request; otherwise throws.
    func send(_ request: HTTPRequest) async throws(UpstreamError) -> HTTPResponse
}

/// A GET request.
package struct HTTPRequest: Sendable {
    /// An absolute `http` or `https` URL, percent-encoded.
    package var url: String
    package var headers: [(name: String, value: String)] = []
    /// The limit for the whole request, including connecting, redirects and the body.
    package var timeout: Duration
}

/// A complete, inflated response.
package struct HTTPResponse: Sendable {
    package var status: Int
    package var headers: HTTPHeaderFields = []
    package var body: [UInt8] = []
    /// The URL after all redirects; nil if unknown.
    package var url: HTTPURL?
    /// The time of arrival, with which dates in header fields are compared.
    package var receivedAt: Timestamp
    var memory: MemoryLease?
}

/// Header fields in the order of arrival. Names are compared without case (RFC 9110, section 5.1).
package struct HTTPHeaderFields: Sendable, ExpressibleByArrayLiteral {
    private let fields: [(name: String, value: String)]

    package init(_ fields: [(name: String, value: String)]) { self.fields = fields }

    package init(arrayLiteral elements: (String, String)...) { fields = elements.map { (name: $0.0, value: $0.1) } }

    package subscript(_ name: String) -> String? { all(name).first }

    package func all(_ name: String) -> [String] {
        let name = name.lowercased()
        return fields.filter { $0.name.lowercased() == name }.map(\.value)
    }
}

/// Settings of all requests, from the configuration section `http`.
package struct HTTPSettings: Sendable, Equatable {
    /// The longest silence: until the first byte of a response, and between two bytes. Connecting takes at most 5 s,
    /// and at most this time. The timeout of a request limits its whole duration.
    package var timeout: Duration
    /// The largest body in bytes, before and after inflating. A larger body is refused during the transfer.
    package var maximumBody: Int
    package var userAgent: String
    package var proxy: HTTPProxySettings?
    /// The path of a PEM file of trusted certificates that replaces the system's file (`SSL_CERT_FILE`).
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

/// An HTTP proxy. `https` uses CONNECT; `http` sends the absolute URL (RFC 9112, section 3.2.2).
package struct HTTPProxySettings: Sendable, Equatable {
    /// The host; an IPv6 address has no brackets.
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
    /// Host and port as in a URL; safe to log, because user and password are left out.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    package var debugDescription: String { description }
}
