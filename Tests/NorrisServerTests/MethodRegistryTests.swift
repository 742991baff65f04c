import NorrisProtocol
import Testing

@testable import NorrisServer

struct MethodRegistryTests {
    private static let names = MethodTable.methods.map(\.name)

    @Test func everyMethodOfTheTableIsServed() async throws {
        let registry = TestMethods.registry()
        for name in MethodRegistryTests.names {
            #expect(try await registry.reply(to: request(1, name)).contains("-32601") == false)
        }
    }

    @Test("Only administrators may call what the table says", arguments: MethodTable.methods.map(\.name))
    func permission(_ name: String) async throws {
        let isAdministrative = try #require(MethodTable.methods.first { $0.name == name }).isAdministrative
        let stranger = TestMethods.registry(isAdministrator: { $0 != .nobody })
        let administrator = TestMethods.registry(isAdministrator: { $0 == .nobody })
        let line = request(1, name, #"{"id":"a","query":"b"}"#)
        #expect(try await stranger.reply(to: line).contains("-32003") == isAdministrative)
        #expect(try await administrator.reply(to: line).contains("-32003") == false)
    }
}
