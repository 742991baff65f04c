import Foundation
import NorrisTestSupport
import Testing

/// What one local user may do to the others, by the attacks of Scripts/benchmarks/attacks.py. Only what does not depend
/// on how fast the machine is: memory, and that everybody is answered.
@Suite(
    .serialized, .timeLimit(.minutes(20)),
    .enabled(if: geteuid() == 0, "needs root to become other users")
)
struct AttackEndToEndTests {
    private func attack(_ name: String) async throws {
        try await TestThread.run {
            let script = URL(filePath: #filePath).appending(path: "../../../Scripts/benchmarks/attacks.py").standardized
            let programs = URL(filePath: Programs.norrisd).deletingLastPathComponent()
            let result = try run("python3", [script.path, "--structure", "--programs", programs.path, name])
            #expect(result.status == 0, "\(result)")
            #expect(result.lines.last?.hasPrefix(name + " ") == true, "\(result)")
        }
    }

    @Test func othersAreAnsweredBesideNotificationsForMetrics() async throws {
        try await attack("notifications-metrics-8")
    }

    @Test func othersAreAnsweredBesideNotificationsForTheDocument() async throws {
        try await attack("notifications-discover-8")
    }

    @Test func batchesOfLongListsStayBelowTheMemoryGoal() async throws {
        try await attack("favorites-batch-read")
    }

    @Test func aThousandConnectionsAtOnceAreServed() async throws {
        try await attack("connects")
    }

    @Test func withoutDescriptorsEachConnectionGetsALine() async throws {
        try await attack("descriptors")
    }

    @Test func clientsEndWhenTheyAreSentALongError() async throws {
        try await attack("client")
    }
}
