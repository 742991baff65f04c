import NorrisProtocol
import Testing

@testable import NorrisServer

struct MethodRegistryTests {
    private static let names = MethodTable.methods.map(\.name)

    private static func bodies(_ names: [String]) -> [String: MethodBody] {
        Dictionary(uniqueKeysWithValues: names.map { ($0, TestMethods.echo) })
    }

    @Test func everyMethodOfTheTableIsServed() async throws {
        let registry = TestMethods.registry()
        for name in MethodRegistryTests.names {
            #expect(try await registry.reply(to: request(1, name)).contains("-32601") == false)
        }
    }

    @Test func aMethodWithoutABodyEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            _ = MethodRegistry(bodies: MethodRegistryTests.bodies(MethodRegistryTests.names.dropLast())) { _ in true }
        }
    }

    @Test func aBodyWithoutAMethodEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            _ = MethodRegistry(bodies: MethodRegistryTests.bodies(MethodRegistryTests.names + ["nope"])) { _ in true }
        }
    }

    @Test func theWholeTableEndsNothing() async {
        await #expect(processExitsWith: .success) {
            _ = MethodRegistry(bodies: MethodRegistryTests.bodies(MethodRegistryTests.names)) { _ in true }
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

    @Test func callsGetTheirArgumentsAndTheirPeer() async throws {
        let registry = TestMethods.registry([
            "fact.get": { call, json throws(ResponseError) in
                json.string("\(call.peer.uid) \(try call.arguments.read(as: IDParameters.self).id)")
                return nil
            }
        ])
        #expect(try outline(try await registry.reply(to: request(1, "fact.get", #"{"id":"a"}"#))) == #"1 "65534 a""#)
    }

    @Test func countsRequestsThatAreWellFormed() async throws {
        let registry = TestMethods.registry()
        for line in ["x", "[]", "[1]", request(1, "nope"), notification("server.info"), request(2, "fact.get")] {
            _ = try await registry.reply(to: line)
        }
        #expect(registry.requestsTotal == 3)
    }
}
