import NorrisTestSupport
import Testing

/// Runs each test of a suite on a separate thread, so that the test may block.
struct OnTestThread: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws { try await TestThread.run { try await function() } }
}

extension Trait where Self == OnTestThread { static var onTestThread: Self { OnTestThread() } }
