import Glibc
import NorrisProtocol
import NorrisTestSupport
import SystemdIntegration
import Testing

@testable import NorrisDaemon

/// The header fields of a source.
struct HeadersFileTests {
    private let folder = TemporaryFolder()

    private func read(_ text: String) throws -> HeadersFile {
        HeadersFile(try folder.write(text, to: "headers"), Credentials(directory: nil))
    }

    @Test func linesAreRead() throws {
        let headers = try read("Cookie: a=b; c\r\n\nX-Token:secret\r\n")
        #expect(headers.fields == ["Cookie: a=b; c", "X-Token:secret"] && headers.failure == nil)
        let credentials = Credentials(directory: folder.path)
        #expect(HeadersFile("/nowhere/headers", credentials).fields.count == 2)
        let most = String(repeating: "A: b\n", count: HeadersFile.maximumLines)
        #expect(try read(most).fields.count == 16)
    }

    @Test(
        arguments: [
            ("Host: h.example\n", "sets Host"), ("a: b\nno header\n", "Line 2"), (": secret", "Line 1"),
            ("X Y: secret", "Line 1"), ("X:\u{1}secret", "Line 1"), ("X: \n", "Line 1"), ("", "is empty"),
            (String(repeating: "A: secret\n", count: 17), "has 17 headers"),
            ("A: " + String(repeating: "x", count: 5000), "4096 bytes or more"),
        ]) func faultsAreNamedWithoutTheSecret(text: String, reason: String) throws
    {
        let headers = try read(text)
        let message = headers.failure?.message ?? ""
        #expect(headers.failure?.kind == .credentials && headers.fields.isEmpty)
        #expect(message.contains(reason) && !message.contains("secret"), "\(message)")
    }

    @Test func theyAreSentOverHTTPSOrToAPrivateAddress() throws {
        let path = try folder.write("A: b", to: "headers")
        func failure(_ url: String) -> String? {
            let source = Configuration.PostSource(
                name: "s", kind: .feed, url: url, refresh: .hours(1), keep: .hours(1), added: nil)
            return HeadersFile(path, Credentials(directory: nil), for: source).failure?.message
        }
        #expect(failure("https://h.example/") == nil && failure("http://127.0.0.1/") == nil)
        #expect(failure("http://h.example/")?.contains("https only") == true)
    }

    @Test func aPublicOrMissingFileIsAWarning() throws {
        let path = try folder.write("A: b", to: "headers")
        let yaml = "posts: {sources: {s: {kind: feed, url: 'https://h/', headers_file: '\(path)'}}}"
        var loader = ConfigurationLoader(home: nil, currentDirectory: "/")
        loader.checksSystem = true
        func warnings(_ yaml: String) throws -> [String] {
            try loader.parse(Array(yaml.utf8), file: "c.yaml").warnings.map(\.message)
        }
        #expect(chmod(path, 0o600) == 0)
        #expect(try warnings(yaml) == [])
        #expect(chmod(path, 0o644) == 0)
        #expect(try warnings(yaml).first?.contains("chmod o-r") == true)
        #expect(
            try warnings(yaml.replacing("headers_file: '", with: "headers_file: '/x")).first?.contains("no headers")
                == true)
    }

    @Test func aSourceSendsItsHeadersAndItsUserAgent() async throws {
        try await FakeUpstream.run { upstream in
            let path = try folder.write("X-Token: secret", to: "headers")
            let keys = "kind: feed, url: '\(upstream.baseURL)/f', user_agent: 'Own/1', headers_file: '\(path)'"
            let bad = "kind: feed, url: '\(upstream.baseURL)/g', headers_file: '/nowhere/x'"
            let configuration = "posts: {sources: {s: {\(keys)}, bad: {\(bad)}}}"
            try await FetchingDaemon.run(upstream, others: configuration) { daemon in
                await eventually { upstream.requests.contains { $0.path == "/f" } }
                let request = try #require(upstream.requests.first { $0.path == "/f" })
                #expect(request.header("X-Token") == "secret" && request.header("User-Agent") == "Own/1")
                let failed = try daemon.client().call(ServerStatus.self).sources.first { $0.name == "bad" }
                #expect(failed?.freshness.error?.kind == .credentials)
                #expect(upstream.requests.allSatisfy { $0.path != "/g" })
            }
        }
    }
}
