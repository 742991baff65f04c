import NorrisProtocol
import Testing

@testable import NorrisDaemon

struct NotifierServiceTests {
    @Test func onlyChangesAreTold() {
        var condition = NotifierService.Condition(faults: [])
        #expect(condition.change(to: []) == nil)
        #expect(condition.change(to: ["a disk"]) == .degraded)
        #expect(condition.change(to: ["a disk", "a file"]) == nil)
        #expect(condition.change(to: []) == .ok)
        #expect(condition.change(to: []) == nil)
    }

    @Test func whatWasWrongAtTheStartIsNoNews() {
        var condition = NotifierService.Condition(faults: ["a disk"])
        #expect(condition.change(to: ["a disk"]) == nil)
        #expect(condition.change(to: []) == .ok)
    }
}
