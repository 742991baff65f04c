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
        var message: String
        do throws(CredentialError) {
            if let file = configuration.apiKeyFile {
                message = "There is no file \(file), which is to hold Giphy's key (gifs.api_key_file)"
                secret = try Secret.read(path: file)
            } else {
                message = "Giphy wants an API key, and norrisd was given none"
                secret = try credentials.secret(named: GiphyKey.credential)
                isConfigured = secret != nil
            }
        } catch {
            message = error.description
        }
        // A key becomes part of a URL: anything else is a page saved by mistake, for example.
        if let key = secret?.value, key.utf8.count > 256 || !key.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) {
            message = "What norrisd was given as Giphy's key is none: a key is one word of ASCII"
            secret = nil
        }
        if secret == nil { failure = SourceFailure(kind: .credentials, message: message, since: now) }
    }
}
