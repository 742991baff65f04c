import Foundation
import NorrisTestSupport
import Testing

/// Runs attacks of `Scripts/bench attacks` by one local user. The checks do not depend on the speed of the machine:
/// memory limits, and a reply to every user.
@Suite(
    .onTestThread, .serialized, .timeLimit(.minutes(20)),
    .enabled(if: geteuid() == 0, "needs root to become other users"),
    .disabled(if: Programs.areSanitized, "a sanitizer takes more memory than the limits")
)
struct AttackEndToEndTests {
    @Test(arguments: [
        "notifications-metrics-8", "notifications-discover-8", "favorites-batch-read", "connects", "descriptors",
    ]) func othersAreServed(name: String) throws {
        let script = URL(filePath: #filePath).appending(path: "../../../Scripts/benchmarks/main.py").standardized
        let programs = URL(filePath: Programs.norrisd).deletingLastPathComponent()
        let result = try run(
            "python3", [script.path, "attacks", "--structure", "--programs", programs.path, "--only", name])
        #expect(result.status == 0, "\(result)")
        #expect(result.lines.last?.hasPrefix(name + " ") == true, "\(result)")
    }
}
