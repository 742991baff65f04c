import Glibc
import NorrisThreads
import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisUpstream

/// The memory of bodies during transfer and before decoding.
@Suite(.timeLimit(.minutes(20))) struct BodyMemoryTests {
    private static let mebibyte = 1 << 20
    private let ledger = MemoryLedger(limits: [.bodies: 32 << 20])

    private func taken(_ memory: BodyMemory, _ count: Int, of whole: Int, for lease: MemoryLease) -> Int? {
        if case .granted(let capacity) = memory.take(count, of: whole, for: lease) { capacity } else { nil }
    }

    @Test func aSmallBodyTakesMemoryAsItGrows() {
        let memory = BodyMemory(ledger: ledger)
        let lease = memory.lease()
        let sizes = [1, 70_000, 200_000, Self.mebibyte]
        #expect(sizes.map { taken(memory, $0, of: 16 << 20, for: lease) } == [64 << 10, 128 << 10, 256 << 10, 1 << 20])
        #expect(lease.bytes == Self.mebibyte && ledger.used(of: .bodies) == Self.mebibyte)
        let short = memory.lease()
        #expect(taken(memory, 10, of: 100, for: short) == 100)
        lease.shrink(to: 5)
        #expect(ledger.used(of: .bodies) == 105)
    }

    @Test func aLargeBodyTakesAllMemoryAtOnceOrWaits() {
        let memory = BodyMemory(ledger: ledger)
        let first = memory.lease()
        #expect(taken(memory, Self.mebibyte + 1, of: 16 << 20, for: first) == 16 << 20)
        let second = memory.lease()
        guard case .wait = memory.take(Self.mebibyte + 1, of: 16 << 20, for: second) else {
            Issue.record("two bodies of 16 MiB leave nothing to small ones")
            return
        }
        #expect(taken(memory, Self.mebibyte + 1, of: 8 << 20, for: second) == 8 << 20)
        // Small bodies use the rest.
        let small = (0..<9).map { _ in memory.lease() }
        #expect(small.prefix(8).allSatisfy { taken(memory, Self.mebibyte, of: Self.mebibyte, for: $0) != nil })
        guard case .refused = memory.take(1, of: Self.mebibyte, for: small[8]) else {
            Issue.record("the account is full")
            return
        }
        withExtendedLifetime((first, second, small)) {}
    }

    @Test func aBodyBeyondTheWholeAccountComesAlone() {
        let memory = BodyMemory(ledger: ledger)
        let first = memory.lease()
        #expect(taken(memory, 2 << 20, of: 64 << 20, for: first) == 64 << 20)
        let second = memory.lease()
        #expect(taken(memory, 2 << 20, of: 64 << 20, for: second) == nil)
        withExtendedLifetime((first, second)) {}
    }

    @Test func aTransferWaitsForMemory() async throws {
        try await Fixture.run(FakeUpstream.start(jokes: FakeUpstream.jokes(count: 1))) { fixture async throws in
            fixture.upstream.setFault(.json(String(repeating: "1", count: 3 << 20)))
            // Leaves the rest of the shared ledger to small bodies of this test and of parallel tests.
            var lease: MemoryLease? = BodyMemory(ledger: .shared).lease()
            lease?.force(22 << 20)
            let error = await fixture.failure(timeout: .milliseconds(500))
            expect(error, .decode, "use all of norrisd's response memory", isRetryable: true)
            async let response = fixture.send()
            lease = nil
            #expect(try await response.body.count == 3 << 20)
            #expect(lease == nil)
        }
    }

    // MARK: Decoding

    @Test("Large documents are decoded one after the other, and small ones meanwhile", arguments: [2 << 20, 1_000])
    func decoding(size: Int) async throws {
        try await Fixture.run(FakeUpstream.start(jokes: FakeUpstream.jokes(count: 1))) { fixture async throws in
            fixture.upstream.setFault(.json(String(repeating: "1", count: size)))
            let fetcher = Fetcher(transport: fixture.transport, executor: BackgroundThreads(maximumThreads: 4))
            let url = fixture.upstream.baseURL + "/x"
            let running = Running()
            let isLarge = size > BodyMemory.maximumSmall
            if !isLarge { #expect(await Fetcher.largeDocuments.lock()) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        _ = try await fetcher.document(url, accept: "*/*", Validators(), Fixture.longEnough) {
                            response, _ throws(UpstreamError) in
                            #expect(response.body.count == size)
                            let count = running.count.add(1, ordering: .relaxed).newValue
                            if isLarge { #expect(count == 1) }
                            usleep(10_000)
                            running.count.subtract(1, ordering: .relaxed)
                        }
                    }
                }
                try await group.waitForAll()
            }
            if !isLarge { Fetcher.largeDocuments.unlock() }
        }
    }

    private final class Running: Sendable { let count = Atomic(0) }
}
