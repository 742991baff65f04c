import Foundation
import NorrisTestSupport
import Testing

@Suite(.onTestThread, .timeLimit(.minutes(20))) struct ConfigEndToEndTests {
    @Test func theDaemonSaysWhichFileItReadsAndWhetherItIsValid() throws {
        let daemon = try RunningDaemon()
        let path = try daemon.ctl("config", "path")
        #expect(path.status == 0 && path.output == daemon.folder("config.yaml") + "\n", "\(path)")
        let valid = try daemon.ctl("config", "check")
        #expect(valid.status == 0 && valid.output == "ok\n", "\(valid)")
        _ = try daemon.folder.write("facts: {refesh: 1h}\n", to: "config.yaml")
        let invalid = try daemon.ctl("config", "check")
        #expect(invalid.status == 78 && invalid.errors.contains("facts.refesh"), "\(invalid)")
    }
}
