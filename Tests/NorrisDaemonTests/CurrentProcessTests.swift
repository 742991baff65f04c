import Foundation
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

struct CurrentProcessTests {
    @Test func foldersAreAbsolute() throws {
        #expect(CurrentProcess.currentDirectory.hasPrefix("/"))
        #expect(try #require(CurrentProcess.accountHome).hasPrefix("/"))
    }

    @Test func theMachineIsIdentifiedByTheFileOrElseByTheHostsName() throws {
        let folder = TemporaryFolder()
        let file = try folder.write("0123456789abcdef0123456789abcdef\n", to: "machine-id")
        #expect(CurrentProcess.machineID(file: file) == "0123456789abcdef0123456789abcdef\n")
        let name = CurrentProcess.machineID(file: folder("none"))
        #expect(!name.isEmpty && ProcessInfo.processInfo.hostName.hasPrefix(name))
        #expect(CurrentProcess.machineID(file: try folder.write("", to: "empty")) == name)
    }

    @Test func theMemoryIsThatOfThisProcess() throws {
        let memory = try #require(CurrentProcess.residentMemory())
        #expect(memory > 1 << 20 && memory < 1 << 40)
        #expect(CurrentProcess.residentMemory(file: "/nowhere") == nil)
        #expect(CurrentProcess.residentMemory(file: "/dev/null") == nil)
    }

    /// In a process of its own, in which no other test maps code meanwhile.
    @Test func mappedCodeIsReleased() async {
        await #expect(processExitsWith: .success) {
            let before = try #require(CurrentProcess.residentMemory())
            CurrentProcess.releaseMappedCode(file: "/dev/null")
            CurrentProcess.releaseMappedCode(file: "/no/such/file")
            CurrentProcess.releaseMappedCode()
            #expect(try #require(CurrentProcess.residentMemory()) < before - 1_000_000)
        }
    }
}
