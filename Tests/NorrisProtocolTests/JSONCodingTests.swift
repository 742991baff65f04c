import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

struct JSONDecodingTests {
    private struct Point: WireObject, Equatable {
        var x = 0
        var label: String?

        init() {}

        mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("x", &x)
            try members.optional("label", &label)
        }
    }

    @Test func readsStandardTypes() throws {
        #expect(try String(json: "a") == "a")
        #expect(try Bool(json: true))
        #expect(try Int(json: -3) == -3)
        #expect(try [Int](json: [1, 2]) == [1, 2])
        #expect(try [String: Int](json: ["a": 1, "b": 2]) == ["a": 1, "b": 2])
        #expect(try JSON(json: nil as JSON) == .null)
    }

    @Test func refusesOtherTypesByName() {
        #expect(throws: JSONDecodingError(message: "must be a string")) { try String(json: 1) }
        #expect(throws: JSONDecodingError(message: "must be true or false")) { try Bool(json: 1) }
        #expect(throws: JSONDecodingError(message: "must be an integer")) { try Int(json: 1.0) }
        #expect(throws: JSONDecodingError(message: "must be an array")) { try [Int](json: ["a": 1]) }
        #expect(throws: JSONDecodingError(message: "must be an object")) { try Point(json: [1]) }
        #expect(throws: JSONDecodingError(path: "b", message: "must be an integer")) {
            try [String: Int](json: ["a": 1, "b": nil])
        }
    }

    @Test func readsRequiredAndOptionalMembers() throws {
        #expect(try Point(json: ["x": 1, "label": "a", "unknown": []]).label == "a")
        #expect(try Point(json: ["x": 1]).label == nil)
        #expect(try Point(json: ["x": 1, "label": nil]).label == nil)
        #expect(throws: JSONDecodingError(path: "x", message: "is missing")) { try Point(json: [:]) }
        #expect(throws: JSONDecodingError(path: "x", message: "must be an integer")) { try Point(json: ["x": nil]) }
        #expect(throws: JSONDecodingError(path: "label", message: "must be a string")) {
            try Point(json: ["x": 1, "label": 2])
        }
    }

    @Test func saysWhereInsideTheFaultIs() {
        let object: JSON = ["points": [["x": 1], ["x": "two"]]]
        let error = #expect(throws: JSONDecodingError.self) { try [String: [Point]](json: object) }
        #expect(error?.path == "points.1.x")
        #expect(error?.description == "points.1.x must be an integer.")
        #expect(JSONDecodingError(message: "must be an object").description == "The value must be an object.")
    }

    @Test func refusesDictionariesWhoseKeysSwiftCannotTellApart() {
        let json: JSON = ["\u{E9}": 1, "e\u{301}": 2]
        #expect(throws: JSONDecodingError.self) { try [String: Int](json: json) }
    }

    @Test func writesDictionariesInTheOrderOfTheirKeys() {
        #expect(["b": 1, "a": 2, "c": 3].jsonText == #"{"a":2,"b":1,"c":3}"#)
    }
}

struct JSONValueTests {
    @Test func comparesStringsByBytes() {
        #expect(JSON.string("\u{E9}") != .string("e\u{301}"))
        #expect(JSON.string("\u{E9}") == .string("\u{E9}"))
    }

    @Test func tellsIntegersFromDoubles() {
        #expect(JSON.integer(1) != .double(1))
        #expect(JSON.null != .bool(false))
    }

    @Test func comparesObjectsWithoutOrder() {
        let object: JSON = ["a": 1, "b": [2, nil]]
        #expect(object == ["b": [2, nil], "a": 1])
        #expect(object != ["a": 1, "b": [nil, 2]])
        #expect(object != ["a": 1])
        #expect(object != ["a": 1, "c": [2, nil]])
    }

    @Test func setsReplacesAndRemovesMembers() {
        var object = JSONObject()
        object["a"] = 1
        object["b"] = 2
        object["a"] = "one"
        #expect(object.members.map(\.key) == ["a", "b"])
        #expect(object["a"] == "one")
        object["a"] = nil
        object["c"] = nil
        #expect(object == ["b": 2])
        object["n"] = .null
        #expect(object["n"] == JSON.null)
        #expect(object["x"] == nil)
    }
}

struct JSONRoundTripTests {
    @Test(arguments: UInt64(1)...20) func readsBackWhateverItWrites(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        for _ in 0..<200 {
            let value = randomValue(depth: 0, &generator)
            let text = value.jsonText
            #expect(!text.utf8.contains(UInt8(ascii: "\n")))
            #expect(try JSON.parse(text) == value)
        }
    }

    /// A line with one to three changed bytes is decoded or refused. A decoded value survives a round trip.
    @Test(arguments: UInt64(1)...5) func survivesMutatedLines(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        for _ in 0..<400 {
            var bytes = Array(randomValue(depth: 0, &generator).jsonText.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            guard let value = try? JSON.parse(bytes) else { continue }
            #expect((try? JSON.parse(value.jsonText)) == value)
        }
    }

    private func randomValue(depth: Int, _ generator: inout SeededRandom) -> JSON {
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

    private func randomText(_ generator: inout SeededRandom) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...24, using: &generator) {
            let ranges: [ClosedRange<UInt32>] = [
                0...0x7F, 0x20...0x7E, 0x80...0x7FF, 0x2000...0x2070, 0x800...0xFFFF, 0x10000...0x10FFFF,
            ]
            // A surrogate is not a scalar, so a letter replaces it.
            let range = ranges[Int.random(in: ranges.indices, using: &generator)]
            text.append(Unicode.Scalar(UInt32.random(in: range, using: &generator)) ?? "s")
        }
        return String(text)
    }
}
