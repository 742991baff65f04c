import NorrisTestSupport

@testable import NorrisUpstream

extension Asking {
    /// As long as a real one, and of its letters.
    static let key = "Qw3rTyUi0pAsDfGhJkLzXcVbNm1234567"

    func giphy(key: String = Asking.key, rating: String = "g") -> Giphy {
        Giphy(
            baseURL: upstream.baseURL, key: key, rating: rating, transport: transport, timeout: Asking.longEnough,
            now: { Asking.now }
        )
    }

    /// What Giphy's API makes of one body; the status is 200.
    static func giphy(answering body: String, key: String = Asking.key) -> Giphy {
        Giphy(
            baseURL: "https://api.example", key: key, rating: "g", transport: FixedTransport(body),
            timeout: .seconds(1), now: { now }
        )
    }

    /// An envelope with an id of a response, and this as its data.
    static func envelope(_ data: String, pagination: String? = nil) -> String {
        let pagination = pagination.map { #""pagination":\#($0),"# } ?? ""
        return #"{"data":\#(data),\#(pagination)"meta":{"status":200,"msg":"OK","response_id":"0qz07vp05l"}}"#
    }
}

/// How something fails at an upstream; nil if it does not.
func failure(_ body: () async throws -> Void) async -> UpstreamError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? UpstreamError
    }
}
