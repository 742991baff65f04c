import NorrisProtocol
import Testing

struct JSONDecodingTests {
    private struct Point: JSONDecodable, Equatable {
        var x: Int
        var label: String?

        init(json: JSON) throws(JSONDecodingError) {
            let object = try json.objectValue()
            x = try object.required("x")
            label = try object.optional("label")
        }
    }

    @Test func readsStandardTypes() throws {
        #expect(try String(json: "a") == "a")
        #expect(try Bool(json: true))
        #expect(try Int(json: -3) == -3)
        #expect(try Int64(json: 3) == 3)
        #expect(try Double(json: 3) == 3)
        #expect(try Double(json: 3.5) == 3.5)
        #expect(try [Int](json: [1, 2]) == [1, 2])
        #expect(try [String: Int](json: ["a": 1, "b": 2]) == ["a": 1, "b": 2])
        #expect(JSON(json: nil) == .null)
    }

    @Test func refusesOtherTypesByName() {
        #expect(throws: JSONDecodingError(message: "must be a string")) { try String(json: 1) }
        #expect(throws: JSONDecodingError(message: "must be true or false")) { try Bool(json: 1) }
        #expect(throws: JSONDecodingError(message: "must be an integer")) { try Int(json: 1.0) }
        #expect(throws: JSONDecodingError(message: "must be an integer")) { try Int64(json: "1") }
        #expect(throws: JSONDecodingError(message: "must be a number")) { try Double(json: "1") }
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
        let object: JSONObject = ["points": [["x": 1], ["x": "two"]]]
        let error = #expect(throws: JSONDecodingError.self) { try object.required("points", as: [Point].self) }
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
