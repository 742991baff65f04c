import NorrisText

/// Why an upstream gave nothing, and whether to ask again.
package struct UpstreamError: Error, Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// No connection, or it broke.
        case offline
        case timeout
        /// A status that is neither success nor one of the kinds below, or a redirect that is not followed.
        case http(status: Int)
        /// 429, or a budget of our own is used up.
        case quota
        /// It answered, but with nothing that can be used.
        case decode
        /// A key is missing or was refused.
        case credentials
        /// Whoever asked does not want the answer any more. No fault of the upstream: nothing to show or to count.
        case cancelled
    }

    package var kind: Kind

    /// One sentence for a person: sanitised, at most 500 characters, without the query part of any URL.
    package var message: String

    /// How long the upstream asks to be left alone: 0...24 h.
    package var retryAfter: Duration?

    /// Whether this upstream is known to get over a status at which others are not asked again.
    package var isTransient = false

    package init(_ kind: Kind, _ message: String, retryAfter: Duration? = nil) {
        self.kind = kind
        self.message = Self.cut(message, to: 500)
        self.retryAfter = retryAfter
    }

    /// Whether the same request may succeed soon: nothing arrived, or a status that passes (408, 425, 429, any 5xx,
    /// or one that ``isTransient``).
    package var isRetryable: Bool {
        switch kind {
        case .offline, .timeout, .quota: true
        case .http(let status): isTransient || status == 408 || status == 425 || (500...599).contains(status)
        case .decode, .credentials, .cancelled: false
        }
    }

    /// One line of at most so many code points, fit for a message whatever it held.
    static func cut(_ text: String, to length: Int) -> String {
        String(String.UnicodeScalarView(sanitizedLine(text).unicodeScalars.prefix(length)))
    }

    static let cancelled = UpstreamError(.cancelled, "The request was called off.")
}

extension UpstreamError: CustomStringConvertible {
    package var description: String { message }
}
