import NorrisProtocol
import NorrisTestSupport
import Testing

struct JSONRoundTripTests {
    @Test(arguments: UInt64(1)...20)
    func readsBackWhateverItWrites(seed: UInt64) throws {
        var generator = SeededGenerator(state: seed)
        for _ in 0..<200 {
            let value = randomValue(depth: 0, &generator)
            let text = value.jsonText
            #expect(!text.utf8.contains(UInt8(ascii: "\n")))
            #expect(try JSON.parse(text) == value)
        }
    }

    /// A line changed in one byte is read or refused, never a crash, and what is read is written and read the same.
    @Test(arguments: UInt64(1)...5)
    func survivesMutatedLines(seed: UInt64) {
        var generator = SeededGenerator(state: seed)
        for _ in 0..<400 {
            var bytes = Array(randomValue(depth: 0, &generator).jsonText.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            guard let value = try? JSON.parse(bytes) else { continue }
            #expect((try? JSON.parse(value.jsonText)) == value)
        }
    }

    private func randomValue(depth: Int, _ generator: inout SeededGenerator) -> JSON {
        switch Int.random(in: depth < 6 ? 0...8 : 0...5, using: &generator) {
        case 0: return .null
        case 1: return .bool(.random(using: &generator))
        case 2: return .integer(.random(in: -JSON.maximumInteger...JSON.maximumInteger, using: &generator))
        case 3: return .integer(.random(in: -100...100, using: &generator))
        case 4:
            let value = Double(bitPattern: .random(in: 0 ... .max, using: &generator))
            return .double(value.isFinite ? value : 0.5)
        case 5: return .string(randomText(&generator))
        case 6, 7:
            let count = Int.random(in: 0...5, using: &generator)
            return .array((0..<count).map { _ in randomValue(depth: depth + 1, &generator) })
        default:
            var object = JSONObject()
            for _ in 0..<Int.random(in: 0...20, using: &generator) {
                object[randomText(&generator)] = randomValue(depth: depth + 3, &generator)
            }
            return .object(object)
        }
    }

    private func randomText(_ generator: inout SeededGenerator) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...24, using: &generator) {
            let ranges: [ClosedRange<UInt32>] = [
                0...0x7F, 0x20...0x7E, 0x80...0x7FF, 0x2000...0x2070, 0x800...0xFFFF, 0x10000...0x10FFFF,
            ]
            // A surrogate is no scalar; it becomes a letter instead.
            let range = ranges[Int.random(in: ranges.indices, using: &generator)]
            text.append(Unicode.Scalar(UInt32.random(in: range, using: &generator)) ?? "s")
        }
        return String(text)
    }
}
