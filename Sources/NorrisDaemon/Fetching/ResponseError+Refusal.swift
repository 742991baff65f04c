import NorrisPrefetch
import NorrisProtocol

extension ResponseError {
    /// Why a source is not refreshed, and when it may be.
    init(_ refusal: RefreshRefusal, of source: String) {
        switch refusal {
        case .unknown:
            self = .notFound(
                "There is no source \(source.quotedForMessage).", hint: "server.status lists those there are."
            )
        case .disabled:
            self = .notFound(
                "The source \(source.quotedForMessage) is not fetched.",
                hint: "Set its enabled to true in the daemon's configuration."
            )
        case .putOff(let until):
            self = .busy(
                "The upstream of \(source) asked to be left alone until \(until).",
                hint: "It is fetched then by itself.", retryAt: until
            )
        case .tooSoon(let until):
            self = .busy(
                "\(source) was refreshed less than 5 minutes ago.",
                hint: "Wait until \(until), or ask an administrator.", retryAt: until
            )
        }
    }
}
