import Testing

@testable import NorrisPrefetch

@Suite struct JitterTests {
    @Test func theFactorIsThatOfTheMachineAndTheSource() {
        let hour = Duration.seconds(3600)
        let here = Jitter(machine: "a")
        #expect(here.applied(to: hour, of: "facts") == Jitter(machine: "a").applied(to: hour, of: "facts"))
        #expect(here.applied(to: hour, of: "facts") != here.applied(to: hour, of: "gifs"))
        #expect(here.applied(to: hour, of: "facts") != Jitter(machine: "b").applied(to: hour, of: "facts"))
    }

    @Test func machinesSpreadOverATenthInBothDirections() {
        let waits = (0..<2000).map { machine in
            Jitter(machine: "machine \(machine)").applied(to: .seconds(1000), of: "facts") / .seconds(1000)
        }
        #expect(waits.allSatisfy { $0 >= 0.9 && $0 < 1.1 })
        for tenth in 0..<10 {
            let low = 0.9 + 0.02 * Double(tenth)
            #expect(waits.count { $0 >= low && $0 < low + 0.02 } > 120)
        }
    }
}
