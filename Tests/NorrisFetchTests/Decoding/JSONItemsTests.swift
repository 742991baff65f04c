import NorrisProtocol
import Testing

@testable import NorrisFetch

struct JSONItemsTests {
    private func items(_ json: String, under key: String? = "result") throws(UpstreamError) -> [String] {
        var items: [String] = []
        let append = { (item: ArraySlice<UInt8>) throws(UpstreamError) in
            items.append(String(decoding: item, as: UTF8.self))
        }
        if let key {
            try JSONItems.forEach(in: Array(json.utf8), under: key, append)
        } else {
            try JSONItems.forEach(in: Array(json.utf8)[...], append)
        }
        return items
    }

    @Test(
        arguments: [
            (#"{"result":[]}"#, []),
            (#" { "total" : 2 , "result" : [ {"a":1} , {"b":[2,{}]} ] } "#, [#"{"a":1}"#, #"{"b":[2,{}]}"#]),
            (#"{"result":[1,"x",null,true,[],{}],"more":{"result":[9]}}"#, ["1", "\"x\"", "null", "true", "[]", "{}"]),
            (#"{"a":{"result":[9]},"result":["]}\"\\",{"x":"]}"}]}"#, [#""]}\"\\""#, #"{"x":"]}"}"#]),
            (#"{"r\u0065sult":[1]}"#, ["1"]),
            // The last one of repeated names counts.
            (#"{"result":{},"result":[2],"r\u0065sult":[1]}"#, ["1"]),
            // The scanner does not check the contents of elements and of other members.
            (#"{"result":[{"a" 1},truth,"\ud800"]}"#, [#"{"a" 1}"#, "truth", #""\ud800""#]),
            (#"{"x":{"y":1,"y":2},"y":1e999,"z":tru,"result":[1],"u":"\ud800"}"#, ["1"]),
        ] as [(String, [String])]
    )
    func elementsAreFound(json: String, expected: [String]) throws { #expect(try items(json) == expected) }

    @Test("Every truncated document is refused") func everyPrefix() throws {
        let json = #"{"total":2,"x":[{"y":"\"z"}],"result":[{"a":"b\\"},[1,2],"s",null],"end":true}"#
        #expect(try items(json).count == 4)
        for length in 0..<json.utf8.count {
            #expect(throws: UpstreamError.self) { try items(String(json.prefix(length))) }
        }
    }

    @Test(arguments: [
        "", "[]", "null", "\"result\"", "{}", #"{"total":0}"#, #"{"result":{}}"#, #"{"result":null}"#,
        #"{"result":"x"}"#, #"{"result":[]}}"#, #"{"result":[]} x"#,
        #"{"result":[],}"#, #"{"result":[1,]}"#, #"{"result":[,1]}"#,
        #"{"result":[1 2]}"#, #"{"result":[{]}]}"#, #"{"result" []}"#, #"{result:[]}"#, #"{"result":[],"x":[}"#,
        #"{"result":[],"x":"y}"#, #"{"result":[],"x":{"y"}"#, #"{"result":[]"x":1}"#, #"{"result":[],1:2}"#,
        "\u{FEFF}{\"result\":[]}",
    ]) func whatIsNotWholeAndRightIsRefused(json: String) { #expect(throws: UpstreamError.self) { try items(json) } }

    // MARK: Members of an element

    @Test(
        arguments: [
            ("480", 480), (#""480""#, 480), ("480.0", 480), (#""0480""#, 480), ("0", 0), (#""0""#, 0), (#""""#, nil),
            ("null", nil), (#""-1""#, nil), ("-1", nil), (#""+1""#, nil), (#"" 1""#, nil), (#""1e3""#, nil),
            (#""many""#, nil), ("1.5", 1), ("-0.5", nil), ("1e999", nil), ("99999999999999999999", nil), ("true", nil),
            (#""99999999999999999999""#, nil), (#""٣""#, nil),
            (#""9007199254740992""#, 1 << 53), (#""9007199254740993""#, nil),
        ] as [(String, Int?)]
    )
    func numbersMayBeTexts(json: String, number: Int?) throws {
        #expect(try #require(JSONItem(item: Array("{\"n\":\(json)}".utf8)[...])).number("n") == number)
    }

    @Test(arguments: [("0", false), ("1", true), ("true", true), ("false", false), (#""1""#, true), ("[]", nil)])
    func flagsMayBeNumbers(json: String, flag: Bool?) throws {
        #expect(try #require(JSONItem(item: Array("{\"f\":\(json)}".utf8)[...])).truth("f") == flag)
    }

    @Test func urlsAreBoundedAndStayByteForByte() throws {
        let url = "https://h/" + String(repeating: "x", count: 2038)
        let none = ["5", #""javascript:1""#, #""ftp://h/""#, #""https://h/\u001b""#, #""/x""#, #""https://é/""#]
        for (json, expected) in [("\"\(url)\"", url), ("\"\(url)x\"", nil)] + none.map({ ($0, nil as String?) }) {
            #expect(try #require(JSONItem(item: Array("{\"u\":\(json)}".utf8)[...])).url("u") == expected)
        }
    }
}
