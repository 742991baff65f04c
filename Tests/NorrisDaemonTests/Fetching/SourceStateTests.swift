import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisTestSupport
import SystemdIntegration
import Testing

@testable import NorrisDaemon

struct GiphyKeyTests {
    private let folder = TemporaryFolder()

    private func key(file: String? = nil, credentials: String? = nil) -> GiphyKey {
        var configuration = Configuration.Gifs()
        configuration.apiKeyFile = file
        return GiphyKey(configuration, Credentials(directory: credentials), now: .ofTests)
    }

    @Test func comesFromTheFileThatIsNamedOrElseFromTheCredential() throws {
        _ = try folder.write("def", to: "giphy-api-key")
        let named = key(file: try folder.write("abc\n", to: "key"), credentials: folder.path)
        #expect(named.secret?.value == "abc")
        #expect(named.failure == nil)
        #expect(key(credentials: folder.path).secret?.value == "def")
    }

    @Test func isMissing() {
        let none = key()
        #expect(none.secret == nil)
        #expect(none.failure?.kind == .credentials)
        #expect(!none.isConfigured)
        #expect(none.failure?.since == .ofTests)
        #expect(key(file: folder("absent")).failure?.message.contains(folder("absent")) == true)
        #expect(key(file: folder("absent")).isConfigured)
        #expect(key(credentials: folder.path).failure?.message == none.failure?.message)
    }

    @Test(
        "Invalid keys",
        arguments: [
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

struct KnownCategoriesTests {
    @Test func theLastListHoldsBesideThoseOfYears() {
        let known = KnownCategories()
        #expect(known.contains("explicit"))
        #expect(!known.contains("alpha"))
        known.learn(["alpha"])
        known.learn([])
        #expect(known.contains("alpha") && known.contains("dev"))
        known.learn(["beta"])
        #expect(known.contains("beta") && !known.contains("alpha"))
    }
}
