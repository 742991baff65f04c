import NorrisProtocol
import NorrisTestSupport
import SystemdIntegration
import Testing

@testable import NorrisDaemon

struct GiphyKeyTests {
    private let folder = TemporaryFolder()

    private func key(file: String? = nil, credentials: String? = nil) -> GiphyKey {
        var configuration = Configuration.Gifs()
        configuration.apiKeyFile = file
        return GiphyKey(configuration, Credentials(directory: credentials), now: Timestamp(seconds: 7))
    }

    @Test func comesFromTheFileThatIsNamed() throws {
        let key = key(file: try folder.write("abc\n", to: "key"), credentials: folder.path)
        #expect(key.secret?.value == "abc")
        #expect(key.failure == nil)
    }

    @Test func comesFromTheCredential() throws {
        _ = try folder.write("abc", to: "giphy-api-key")
        #expect(key(credentials: folder.path).secret?.value == "abc")
    }

    @Test func isMissing() {
        let none = key()
        #expect(none.secret == nil)
        #expect(none.failure?.kind == .credentials)
        #expect(!none.isConfigured)
        #expect(none.failure?.since == Timestamp(seconds: 7))
        #expect(key(file: folder("absent")).failure?.message.contains(folder("absent")) == true)
        #expect(key(file: folder("absent")).isConfigured)
        #expect(key(credentials: folder.path).failure?.message == none.failure?.message)
    }

    @Test("What cannot be a key is none", arguments: [
        "two words", "a\u{7F}", "schlüssel", String(repeating: "x", count: 257),
    ])
    func isNoKey(_ text: String) throws {
        let key = key(file: try folder.write(text, to: "key"))
        #expect(key.secret == nil)
        #expect(key.failure?.message.contains(text) == false)
    }

    @Test func cannotBeRead() throws {
        let key = key(file: try folder.write("\n", to: "key"))
        #expect(key.secret == nil)
        #expect(key.failure?.message.contains("is empty") == true)
        #expect(self.key(file: folder.path).failure?.kind == .credentials)
    }
}
