import NorrisProtocol
import Testing

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
