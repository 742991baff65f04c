/// What all requests have in common, as configured under `http`.
package struct HTTPSettings: Sendable, Equatable {
    /// The longest silence: until the first byte of an answer, and between any two. Connecting takes 5 s at most, and
    /// never longer than this. A request's own timeout bounds the whole.
    package var timeout: Duration
    /// In bytes, before inflating as well as after; a longer body is refused while it arrives.
    package var maximumBody: Int
    package var userAgent: String
    package var proxy: HTTPProxySettings?
    /// The path of a PEM file of trusted certificates, in place of the system's (`SSL_CERT_FILE`).
    package var trustRoots: String?

    package init(
        timeout: Duration = .seconds(10),
        maximumBody: Int = 16 * 1024 * 1024,
        userAgent: String,
        proxy: HTTPProxySettings? = nil,
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

/// An HTTP proxy: asked to CONNECT for `https`, asked for the whole URL for `http` (RFC 9112, section 3.2.2).
package struct HTTPProxySettings: Sendable, Equatable {
    /// An address of IPv6 without brackets.
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
    package var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
    package var debugDescription: String { description }
}
