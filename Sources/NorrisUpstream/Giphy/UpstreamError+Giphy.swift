extension UpstreamError {
    /// Giphy's stand-in for an answer that it could not make: 200, nothing in it, and no id of a response. Where
    /// nothing was found there is an id.
    static func syntheticAnswer(from url: String) -> UpstreamError {
        let place = HTTPURL(url)?.place ?? "The upstream"
        var error = UpstreamError(
            .http(status: 200), "\(place) answered without a result; Giphy has trouble of its own."
        )
        error.isTransient = true
        return error
    }

    /// What an error means that came while Giphy was asked.
    func ofGiphy(hiding key: APIKey) -> UpstreamError {
        var error = self
        switch kind {
        case .http(400):
            // Giphy says so too while it is down.
            error.isTransient = true
        case .http(403) where saysElsewhere:
            // The key is fine: this GIF is not shown where norrisd runs.
            break
        case .quota:
            // Giphy sends it with everything; it does not mean that the hour is over.
            if retryAfter == .zero { error.retryAfter = nil }
        case .http(401), .http(403):
            error.kind = .credentials
            error.add(
                "get a key at developers.giphy.com, and put it into the credential giphy-api-key or the file that "
                    + "gifs.api_key_file names"
            )
        case .http(414):
            error.add("Giphy takes queries of 50 characters at most")
        default:
            break
        }
        error.message = key.redacted(error.message)
        return error
    }

    /// Whether it is about content that is not available in some location.
    private var saysElsewhere: Bool {
        let message = message.lowercased()
        return message.contains("not available") && message.contains("location")
    }

    /// Goes on with the sentence.
    private mutating func add(_ advice: String) {
        message = Self.cut(message, to: 300).trimmingFinalPoint + "; \(advice)."
    }
}

extension String {
    fileprivate var trimmingFinalPoint: String {
        last == "." ? String(dropLast()) : self
    }
}
