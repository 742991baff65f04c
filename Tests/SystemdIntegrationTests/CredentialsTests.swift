import Foundation
import Glibc
import NorrisSystem
import NorrisTestSupport
import SystemdIntegration
import Testing

struct CredentialsTests {
    @Test(arguments: ["0123abcd", "0123abcd\r\n"])
    func credentialIsReadWithoutItsLineEnd(content: String) throws {
        try withCredential(Data(content.utf8)) { credentials throws in
            #expect(try credentials.secret(named: "giphy-api-key")?.value == "0123abcd")
        }
    }

    @Test func absentCredentialIsNil() throws {
        try withCredential(Data("key".utf8)) { credentials throws in
            #expect(try credentials.secret(named: "other-key") == nil)
        }
        #expect(try Credentials(directory: "/nonexistent/norrisd").secret(named: "giphy-api-key") == nil)
        #expect(try Credentials(directory: nil).secret(named: "giphy-api-key") == nil)
    }

    @Test func contentThatIsNoKeyIsRefused() throws {
        try withCredential(Data("\n".utf8)) { credentials throws in
            let path = try #require(credentials.directory) + "/giphy-api-key"
            expectError("The credential \(path) is empty: ") { try credentials.secret(named: "giphy-api-key") }
        }
        try withCredential(Data([0x61, 0xFF, 0x0A])) { credentials throws in
            let path = try #require(credentials.directory) + "/giphy-api-key"
            expectError("The credential \(path) is not UTF-8 text: ") { try credentials.secret(named: "giphy-api-key") }
        }
    }

    @Test func directoryComesFromTheEnvironment() async {
        await #expect(processExitsWith: .success) {
            setenv("CREDENTIALS_DIRECTORY", "/run/credentials/norrisd.service", 1)
            #expect(Credentials.ofThisProcess().directory == "/run/credentials/norrisd.service")
            unsetenv("CREDENTIALS_DIRECTORY")
            #expect(Credentials.ofThisProcess().directory == nil)
        }
    }

    @Test func whatCannotBeReadIsAnError() throws {
        // A folder and a pipe without a writer, because root can read a file of mode 0000.
        try withCredential(Data("key".utf8)) { credentials throws in
            let folder = try #require(credentials.directory)
            try FileManager.default.createDirectory(atPath: folder + "/folder", withIntermediateDirectories: false)
            expectError("The credential \(folder)/folder cannot be read (Is a directory): ") {
                try credentials.secret(named: "folder")
            }
            try #require(mkfifo(folder + "/pipe", 0o600) == 0)
            expectError("The credential \(folder)/pipe is empty: ") { try credentials.secret(named: "pipe") }
        }
    }
}

/// Expects an error whose text has a beginning.
func expectError(_ beginning: String, of body: () throws -> Any?) {
    let error = #expect(throws: ExplainedError.self) { _ = try body() }
    #expect(error?.description.hasPrefix(beginning) == true, "\(error as Any)")
}

private func withCredential(_ content: Data, _ body: (Credentials) throws -> Void) throws {
    let folder = TemporaryFolder()
    try content.write(to: URL(fileURLWithPath: folder("giphy-api-key")))
    try body(Credentials(directory: folder.path))
}

struct SecretTests {
    @Test func valueIsNeverPrinted() {
        struct Settings {
            let key = Secret("hunter2")
            let keys = ["a": [Secret("hunter2")]]
        }
        let secret = Secret("hunter2")
        var dumped = ""
        dump(Settings(), to: &dumped)
        let outputs = [
            "\(secret)", secret.description, secret.debugDescription, String(reflecting: secret), "\([secret])",
            "\(Optional(secret) as Any)", "\(Settings())", String(reflecting: Settings()), dumped,
        ]
        for output in outputs {
            #expect(!output.contains("hunter2"))
            #expect(output.contains("<secret>"))
        }
        #expect(Mirror(reflecting: secret).children.isEmpty)
    }
}
