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
