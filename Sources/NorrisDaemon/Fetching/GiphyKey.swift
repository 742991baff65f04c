import NorrisProtocol
import SystemdIntegration

/// The key of Giphy's API, or why there is none. It is read when the configuration is.
struct GiphyKey: Sendable {
    /// The systemd credential that holds the key where no file is named.
    static let credential = "giphy-api-key"

    /// nil where GIFs cannot be fetched.
    let secret: Secret?
    let failure: SourceFailure?
    /// Whether somebody gave one, be it none that is of use.
    let wasGiven: Bool

    init(_ configuration: Configuration.Gifs, _ credentials: Credentials, now: Timestamp = .now()) {
        switch GiphyKey.read(configuration, credentials) {
        case .success(let found): (secret, failure, wasGiven) = (found, nil, true)
        case .failure(let fault):
            secret = nil
            failure = SourceFailure(kind: .credentials, message: fault.message, since: now)
            wasGiven = fault.wasGiven
        }
    }

    /// Why there is no key, as a sentence without its full stop.
    private struct Fault: Error {
        let message: String
        var wasGiven = true
    }

    private static func read(
        _ configuration: Configuration.Gifs, _ credentials: Credentials
    ) -> Result<Secret, Fault> {
        let secret: Secret?
        do throws(CredentialError) {
            if let file = configuration.apiKeyFile {
                secret = try Secret.read(path: file)
            } else {
                secret = try credentials.secret(named: credential)
            }
        } catch {
            return .failure(Fault(message: error.description))
        }
        guard let secret else {
            guard let file = configuration.apiKeyFile else {
                let message = "Giphy wants an API key, and norrisd was given none"
                return .failure(Fault(message: message, wasGiven: false))
            }
            let message = "There is no file \(file), which is to hold Giphy's key (gifs.api_key_file)"
            return .failure(Fault(message: message))
        }
        // A key goes into a URL: what has other characters is none, but a page saved by mistake, say.
        guard secret.value.utf8.count <= 256, secret.value.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            return .failure(Fault(message: "What norrisd was given as Giphy's key is none: a key is one word of ASCII"))
        }
        return .success(secret)
    }
}
