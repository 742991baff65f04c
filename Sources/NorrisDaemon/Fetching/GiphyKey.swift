import NorrisProtocol
import SystemdIntegration

/// The key of Giphy's API, or why there is none. It is read when the configuration is.
struct GiphyKey: Sendable {
    /// The systemd credential that holds the key where no file is named.
    static let credential = "giphy-api-key"

    /// nil where GIFs cannot be fetched.
    private(set) var secret: Secret?
    private(set) var failure: SourceFailure?
    /// Whether a file or credential was provided, usable or not.
    private(set) var isConfigured = true

    init(_ configuration: Configuration.Gifs, _ credentials: Credentials, now: Timestamp = .now()) {
        // A sentence without its full stop.
        let message: String
        do throws(CredentialError) {
            if let file = configuration.apiKeyFile {
                secret = try Secret.read(path: file)
                message = "There is no file \(file), which is to hold Giphy's key (gifs.api_key_file)"
            } else {
                secret = try credentials.secret(named: GiphyKey.credential)
                isConfigured = secret != nil
                message = "Giphy wants an API key, and norrisd was given none"
            }
        } catch {
            failure = SourceFailure(kind: .credentials, message: error.description, since: now)
            return
        }
        guard let key = secret?.value else {
            failure = SourceFailure(kind: .credentials, message: message, since: now)
            return
        }
        // A key becomes part of a URL: anything else is a page saved by mistake, for example.
        if key.utf8.count > 256 || !key.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) {
            secret = nil
            let message = "What norrisd was given as Giphy's key is none: a key is one word of ASCII"
            failure = SourceFailure(kind: .credentials, message: message, since: now)
        }
    }
}
