import Foundation
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

struct MachineIDTests {
    @Test func theFileSaysIt() throws {
        let folder = TemporaryFolder()
        let file = try folder.write("0123456789abcdef0123456789abcdef\n", to: "machine-id")
        #expect(CurrentProcess.machineID(file: file) == "0123456789abcdef0123456789abcdef\n")
    }

    @Test func withoutTheFileTheHostsNameDoes() throws {
        let folder = TemporaryFolder()
        let name = ProcessInfo.processInfo.hostName
        #expect(!name.isEmpty)
        #expect(CurrentProcess.machineID(file: folder("none")) == CurrentProcess.machineID(file: try folder.write("", to: "empty")))
        #expect(name.hasPrefix(CurrentProcess.machineID(file: folder("none"))))
    }
}
