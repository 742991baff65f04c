import Foundation
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

struct MachineIDTests {
    @Test func theFileSaysIt() throws {
        let folder = TemporaryFolder()
        let file = try folder.write("0123456789abcdef0123456789abcdef\n", to: "machine-id")
        #expect(MachineID.current(file: file) == "0123456789abcdef0123456789abcdef\n")
    }

    @Test func withoutTheFileTheHostsNameDoes() throws {
        let folder = TemporaryFolder()
        let name = ProcessInfo.processInfo.hostName
        #expect(!name.isEmpty)
        #expect(MachineID.current(file: folder("none")) == MachineID.current(file: try folder.write("", to: "empty")))
        #expect(name.hasPrefix(MachineID.current(file: folder("none"))))
    }
}
