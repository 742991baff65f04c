import NorrisProtocol
import NorrisTestSupport
import Testing

struct JSONDecodingTests {
    @Test func refusesOtherTypesByName() {
        #expect(throws: JSONDecodingError(message: "must be a string")) { try String(json: 1) }
        #expect(throws: JSONDecodingError(message: "must be true or false")) { try Bool(json: 1) }
        #expect(throws: JSONDecodingError(message: "must be an integer")) { try Int(json: 1.0) }
        #expect(throws: JSONDecodingError(message: "must be an array")) { try [Int](json: ["a": 1]) }
        #expect(throws: JSONDecodingError(message: "must be an object")) { try Post.Stats(json: [1]) }
        #expect(throws: JSONDecodingError(path: "b", message: "must be an integer")) {
            try [String: Int](json: ["a": 1, "b": nil])
        }
    }

    @Test func saysWhereInsideTheFaultIs() {
        let error = #expect(throws: JSONDecodingError.self) { try [String: [Int]](json: ["points": [1, "two"]]) }
        #expect(error?.description == "points.1 must be an integer.")
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
