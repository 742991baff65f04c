import NorrisProtocol
import Testing

@testable import NorrisUpstream

struct JSONItemsTests {
    /// The elements as text, or the fault.
    private func items(_ json: String, under key: String? = "result") -> Result<[String], UnusableBody> {
        var items: [String] = []
        do throws(UnusableBody) {
            try JSONItems.forEach(in: Array(json.utf8), under: key, .untimed) { item throws(UnusableBody) in
                items.append(String(decoding: item, as: UTF8.self))
            }
            return .success(items)
        } catch {
            return .failure(error)
        }
    }

    @Test(
        arguments: [
            (#"{"result":[]}"#, []),
            (#" { "total" : 2 , "result" : [ {"a":1} , {"b":[2,{}]} ] } "#, [#"{"a":1}"#, #"{"b":[2,{}]}"#]),
            (#"{"result":[1,"x",null,true,[],{}],"more":{"result":[9]}}"#, ["1", "\"x\"", "null", "true", "[]", "{}"]),
            (#"{"a":{"result":[9]},"result":["]}\"\\",{"x":"]}"}]}"#, [#""]}\"\\""#, #"{"x":"]}"}"#]),
            (#"{"r\u0065sult":[1]}"#, ["1"]),
            // What is wrong inside an element is not the scanner's concern.
            (#"{"result":[{"a" 1},truth,"\ud800"]}"#, [#"{"a" 1}"#, "truth", #""\ud800""#]),
        ] as [(String, [String])]
    )
    func elementsAreHandedOut(json: String, expected: [String]) throws {
        #expect(try items(json).get() == expected)
    }

    @Test func aDocumentMayBeTheArray() throws {
        #expect(try items("[1, [2]]", under: nil).get() == ["1", "[2]"])
        #expect(throws: UnusableBody.self) { try items("{}", under: nil).get() }
    }

    @Test("What is cut anywhere is refused")
    func everyPrefix() throws {
        let json = #"{"total":2,"x":[{"y":"\"z"}],"result":[{"a":"b\\"},[1,2],"s",null],"end":true}"#
        #expect(throws: Never.self) { try items(json).get() }
        for length in 0..<json.utf8.count {
            #expect(throws: UnusableBody.self) { try items(String(json.prefix(length))).get() }
        }
    }

    @Test(
        arguments: [
            "", "[]", "null", "\"result\"", "{}", #"{"total":0}"#, #"{"result":{}}"#, #"{"result":null}"#,
            #"{"result":"x"}"#, #"{"result":[]}}"#, #"{"result":[]} x"#, #"{"result":[],"result":[]}"#,
            #"{"result":[],"r\u0065sult":[]}"#, #"{"result":[],}"#, #"{"result":[1,]}"#, #"{"result":[,1]}"#,
            #"{"result":[1 2]}"#, #"{"result":[{]}]}"#, #"{"result":[[}]}"#, #"{"result" []}"#, #"{result:[]}"#,
            #"{"result":[],"x":[}"#, #"{"result":[],"x":"y}"#, #"{"result":[],"x":{"y"}"#, #"{"result":[]"x":1}"#,
            #"{"result":[],1:2}"#, "\u{FEFF}{\"result\":[]}",
        ]
    )
    func whatIsNotWholeAndRightIsRefused(json: String) {
        #expect(throws: UnusableBody.self) { try items(json).get() }
    }

    @Test(arguments: ["99999999999999999999", "1e999", #"{"y":1,"y":2}"#, #""\ud800""#, "tru"])
    func otherMembersNeedNotParse(value: String) throws {
        var others: [String] = []
        let json = Array(#"{"x":\#(value),"result":[1],"y":2}"#.utf8)
        try JSONItems.forEach(in: json, under: "result", .untimed) { key, _ in others.append(key) } _: { item in
            #expect(item.elementsEqual("1".utf8))
        }
        #expect(others == ["y"])
    }

    @Test func depthIsBounded() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: UnusableBody.self) { try items("{\"result\":[\(deep)") .get() }
        let sixty = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
        #expect(throws: Never.self) { try items("{\"result\":[\(sixty)]}").get() }
    }

    @Test func whatTheCallerThrowsEndsIt() {
        var count = 0
        #expect(throws: UnusableBody.self) {
            try JSONItems.forEach(in: Array("[1,2,3]".utf8), under: nil, .untimed) { _ throws(UnusableBody) in
                count += 1
                throw .cancelled
            }
        }
        #expect(count == 1)
    }
}
