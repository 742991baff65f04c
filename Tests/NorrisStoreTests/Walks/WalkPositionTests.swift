import NorrisTestSupport
import Testing

@testable import NorrisStore

struct WalkPositionTests {
    private var position: WalkPosition {
        var position = WalkPosition(key: 0xFEDC_BA98_7654_3210, strips: 2)
        position.cursor = 7
        position.bounds = [.init(low: 1, high: 5), .init(low: 0, high: 0x0102_0304)]
        position.deferred = [.init(strip: 1, place: 9), .init(strip: 0, place: 4)]
        position.last = .init(strip: 1, place: 77)
        return position
    }

    @Test func comesBackAsItWas() {
        #expect(WalkPosition(encoded: position.encoded, strips: 2) == position)
        var position = position
        position.last = nil
        #expect(WalkPosition(encoded: position.encoded, strips: 2) == position)
        position.deferred = []
        #expect(WalkPosition(encoded: position.encoded, strips: 2) == position)
        let new = WalkPosition(key: .max, strips: 1)
        #expect(WalkPosition(encoded: new.encoded, strips: 1) == new)
    }

    /// Positions live longer than a version of norrisd.
    @Test func formIsAsEver() {
        var position = WalkPosition(key: 0x0000_0002_0000_0001, strips: 1)
        position.cursor = 3
        position.bounds = [.init(low: 4, high: 5)]
        position.deferred = [.init(strip: 0, place: 6)]
        position.last = .init(strip: 0, place: 7)
        let words: [UInt8] = [1, 2, 3, 1, 4, 5, 1, 0, 6, 0, 7]
        #expect(position.encoded == [1] + words.flatMap { [$0, 0, 0, 0] })
    }

    @Test func anythingElseIsRefused() {
        let bytes = position.encoded
        #expect(WalkPosition(encoded: bytes, strips: 1) == nil)
        #expect(WalkPosition(encoded: bytes, strips: 3) == nil)
        #expect(WalkPosition(encoded: bytes + [0, 0, 0, 0], strips: 2) == nil)
        #expect(WalkPosition(encoded: [2] + bytes.dropFirst(), strips: 2) == nil)
        for count in 0..<bytes.count where count != bytes.count - 8 {
            #expect(WalkPosition(encoded: Array(bytes.prefix(count)), strips: 2) == nil, "\(count) bytes")
        }
    }

    @Test func randomBytesAreRefusedOrSafe() {
        var generator = SeededGenerator(state: 8)
        for _ in 0..<20_000 {
            var bytes = position.encoded
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            guard let position = WalkPosition(encoded: bytes, strips: 2) else { continue }
            #expect(position.bounds.allSatisfy { $0.low <= $0.high })
            #expect((position.deferred + [position.last].compactMap { $0 }).allSatisfy { $0.strip < 2 })
            _ = position.fits([5, 5])
        }
    }

    @Test func positionPastTheSeatsDoesNotFit() {
        #expect(position.fits([5, 0x0102_0304]))
        #expect(!position.fits([4, 0x0102_0304]))
        #expect(!position.fits([5, 0x0102_0303]))
        #expect(!position.fits([5]))
        var far = WalkPosition(key: 1, strips: 1)
        far.bounds = [.init(low: 2, high: 4)]
        far.cursor = 2
        #expect(far.fits([4]))
        far.cursor = 3
        #expect(!far.fits([4]))
        var huge = WalkPosition(key: 1, strips: 2)
        huge.bounds = [.init(low: 0, high: .max), .init(low: 0, high: .max)]
        #expect(!huge.fits([100, 100]))
    }
}
