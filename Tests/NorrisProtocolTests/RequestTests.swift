import NorrisSystem
import NorrisTestSupport
import Testing

@testable import NorrisProtocol

struct RequestTests {
    @Test(arguments: [
        (#"{"jsonrpc":"2.0","id":1,"method":"m"}"#, Request(id: .integer(1), method: "m")),
        (
            #"{"jsonrpc":"2.0","id":"a\u0000","method":"","params":{}}"#,
            Request(id: .string("a\0"), method: "", params: [:])
        ), (#"{"jsonrpc":"2.0","id":null,"method":"m","params":[]}"#, Request(id: .null, method: "m", params: [])),
        (#"{"jsonrpc":"2.0","method":"m","params":{"a":[1.5]}}"#, Request(id: nil, method: "m", params: ["a": [1.5]])),
    ]) func isReadAndWritten(_ json: String, _ request: Request) throws {
        #expect(try Request(line: json) == request)
        checkEncoding(request, json: json)
    }

    @Test("Members that the envelope does not name are ignored") func ignoresUnknownMembers() throws {
        let json = #"{"x":[],"jsonrpc":"2.0","method":"m","Id":7,"result":1,"error":null}"#
        #expect(try Request(line: json) == Request(id: nil, method: "m"))
    }

    @Test("The largest ids come back as they were sent", arguments: [1 << 53, -(1 << 53), 0])
    func keepsLargeIntegers(_ id: Int64) throws {
        let line = #"{"jsonrpc":"2.0","id":\#(id),"method":"m"}"#
        checkEncoding(try Request(line: line), json: line)
    }

    @Test("Ids that only look the same are told apart by their bytes") func keepsTheBytesOfAnID() throws {
        let line = "{\"jsonrpc\":\"2.0\",\"id\":\"e\u{301}\",\"method\":\"m\"}"
        checkEncoding(try Request(line: line), json: line)
    }

    @Test(
        "A line that is no request is refused with the id that could be saved",
        arguments: [
            ("1", RequestID.null), ("null", .null), (#""m""#, .null), ("{}", .null),
            (#"{"jsonrpc":"2.0","id":1}"#, .integer(1)), (#"{"jsonrpc":"2.0","id":"a","method":1}"#, .string("a")),
            (#"{"jsonrpc":"2.0","id":1,"method":null}"#, .integer(1)),
            (#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, .integer(1)),
            (#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, .integer(1)), (#"{"id":1,"method":"m"}"#, .integer(1)),
            (#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#, .integer(1)),
            (#"{"jsonrpc":"2.0","id":1,"method":"m","params":"a"}"#, .integer(1)),
            (#"{"jsonrpc":"2.0","id":1,"method":"m","params":1}"#, .integer(1)),
            (#"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#, .null),
            (#"{"jsonrpc":"2.0","id":1e0,"method":"m"}"#, .null),
            (#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, .null),
            (#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#, .null),
            (#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, .null),
            (#"{"jsonrpc":"1.0","id":1.5}"#, .null),
        ])
    func refusesWhatIsNoRequest(_ json: String, _ id: RequestID) throws {
        let refusal = #expect(throws: Request.Refusal.self) { try Request(line: json) }
        #expect(refusal?.id == id)
        #expect(refusal?.error.code == .invalidRequest)
        #expect(refusal?.error.reason == "invalid_request")
    }

    @Test(
        "The refusal names the member at fault",
        arguments: [
            (#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, "id"),
            (#"{"id":1,"method":"m"}"#, "jsonrpc"),
            (#"{"jsonrpc":"2.0","id":1}"#, "method"),
            (#"{"jsonrpc":"2.0","id":1,"method":"m","params":1}"#, "params"),
        ])
    func namesTheMember(_ json: String, _ member: String) throws {
        let refusal = #expect(throws: Request.Refusal.self) { try Request(line: json) }
        #expect(refusal?.error.message.split(separator: " ").contains(Substring(member)) == true)
    }
}

/// One JSON-RPC 2.0 request or notification, as a reference.
struct Request: Equatable, JSONEncodable {
    var id: RequestID?
    var method: String
    var params: JSON?

    init(id: RequestID?, method: String, params: JSON? = nil) {
        (self.id, self.method, self.params) = (id, method, params)
    }

    func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("jsonrpc", "2.0")
        json.member("id", id)
        json.member("method", method)
        json.member("params", params)
        json.endObject()
    }

    /// A line that is no request, and its id.
    struct Refusal: Error {
        var id: RequestID
        var error = ResponseError.invalidRequest("")
    }

    init(line: String) throws { try self.init(line: Array(line.utf8)[...]) }

    init(line: ArraySlice<UInt8>) throws {
        self = try line.withRawBytes { bytes in
            guard case .single(let envelope) = try RequestLine(bytes) else { throw NotSingle() }
            return try Request(envelope, in: bytes)
        }
    }

    struct NotSingle: Error {}

    fileprivate init(_ envelope: RequestEnvelope, in bytes: UnsafeRawBufferPointer) throws {
        if let fault = envelope.fault(in: bytes) { throw Refusal(id: fault.id, error: fault.error) }
        self.init(
            id: envelope.id.flatMap { RequestID(JSONValue($0, of: bytes)) },
            method: try #require(envelope.method.flatMap { JSONValue($0, of: bytes).text }),
            params: envelope.params.map { JSON(json: JSONValue($0, of: bytes)) })
    }

    /// Decodes a request from a tree of values (JSON-RPC 2.0, section 4), as a reference.
    fileprivate init(tree: JSON) throws(Refusal) {
        guard case .object(let object) = tree else { throw Refusal(id: .null) }
        let id: RequestID? =
            switch object["id"] {
            case .null?: .null
            case .integer(let integer)?: .integer(integer)
            case .string(let string)?: .string(string)
            default: nil
            }
        guard object["id"] == nil || id != nil, object["jsonrpc"] == "2.0", case .string(let method)? = object["method"]
        else { throw Refusal(id: id ?? .null) }
        switch object["params"] {
        case nil, .object, .array: self.init(id: id, method: method, params: object["params"])
        default: throw Refusal(id: id ?? .null)
        }
    }
}

/// Compares requests decoded in place with requests decoded from a tree, for any input.
struct RequestLineTests {
    private enum Reading: Equatable {
        case fault(JSONError)
        case requests([Outcome])
    }

    private enum Outcome: Equatable {
        case request(Request)
        case refused(RequestID)
    }

    private func inPlace(_ line: ArraySlice<UInt8>) -> Reading {
        line.withRawBytes { bytes in
            do throws(JSONError) {
                let read = try RequestLine(bytes)
                switch read {
                case .single(let envelope): return .requests([try! outcome(envelope, bytes)])
                case .batch(let entries):
                    return .requests(
                        try entries.map { (range) throws(JSONError) in
                            let entry = UnsafeRawBufferPointer(rebasing: bytes[range])
                            return try! outcome(try RequestEnvelope(entry: entry), entry)
                        })
                }
            } catch {
                return .fault(error)
            }
        }
    }

    private func outcome(_ envelope: RequestEnvelope, _ bytes: UnsafeRawBufferPointer) throws -> Outcome {
        do {
            return .request(try Request(envelope, in: bytes))
        } catch let error as Request.Refusal {
            return .refused(error.id)
        }
    }

    private func fromTree(_ line: ArraySlice<UInt8>) -> Reading {
        do throws(JSONError) {
            let tree = try JSON.parse(line)
            guard case .array(let entries) = tree else { return .requests([outcome(tree)]) }
            return .requests(entries.map(outcome))
        } catch {
            return .fault(error)
        }
    }

    private func outcome(_ tree: JSON) -> Outcome {
        do throws(Request.Refusal) {
            return .request(try Request(tree: tree))
        } catch {
            return .refused(error.id)
        }
    }

    private func compare(_ line: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) throws {
        let (left, right) = (inPlace(line[...]), fromTree(line[...]))
        if left != right {
            Issue.record(
                "\(String(decoding: line, as: UTF8.self)): \(left), not \(right)", sourceLocation: sourceLocation)
        }
    }

    private static let lines = [
        #"{"jsonrpc":"2.0","id":1,"method":"fact.random"}"#,
        #"{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}"#,
        #"{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}"#,
        #"{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}"#,
        #"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#,
        #"[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},{"jsonrpc": "2.0", "method"]"#,
        "[]", "[1,2,3]", "[1]", "{}", "", " ", "1", "\"a\"", "nul", "[[]]", "{\"a\":1,\"a\":2}",
        #"[{"jsonrpc":"2.0","method":"sum","params":[1,2,4],"id":"1"},{"foo":"boo"},{"jsonrpc":"2.0","method":"n"}]"#,
        #"{"\u006asonrpc":"2.\u0030","\u0069d":"é\ud83d\ude00","method":"\u006d","params":{"é":"\n","b":[{"c":1e3}]}}"#,
        #"{"jsonrpc":"2.0","id":-9007199254740992,"method":"m","params":{"a":9007199254740993}}"#,
        #"{"k1":1,"k2":2,"k3":3,"k4":4,"k5":5,"k6":6,"k7":7,"k8":8,"k9":9,"k\u0031":1,"method":"m"}"#,
        #"{"jsonrpc":"2.0","method":"m","id":"\#(String(repeating: "x", count: 300))","x":{"\u0061":1,"a":2}}"#,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"x\":" + String(repeating: "[", count: 32) + "]}",
    ]

    @Test("Every file of JSONTestSuite, alone and as a member that the envelope ignores") func testSuite() throws {
        for file in try JSONTestSuiteTests.load().values {
            try compare(file)
            try compare(Array(#"{"jsonrpc":"2.0","id":1,"method":"m","x":"#.utf8) + file + [UInt8(ascii: "}")])
        }
    }

    @Test(arguments: lines) func examples(_ line: String) throws { try compare(Array(line.utf8)) }

    @Test("100,000 lines with some bytes changed, added or removed") func mutations() throws {
        var generator = SeededRandom(seed: 14)
        let seeds = Self.lines.map { Array($0.utf8) }
        let pieces: [[UInt8]] =
            [
                "\"", "\\", "{", "}", "[", "]", ",", ":", "\\u0061", "\\ud800", "1e999", "-", "0", ".", "\u{7F}", "é",
                "null", "\u{FEFF}",
            ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0x00], [0x0A]]
        for _ in 0..<100_000 {
            var line = seeds.randomElement(using: &generator)!
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: 0...line.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0 where place < line.count: line.remove(at: place)
                case 1 where place < line.count: line[place] = UInt8.random(in: .min ... .max, using: &generator)
                case 2: line.insert(contentsOf: line[place..<min(line.count, place + 12)], at: place)
                default: line.insert(contentsOf: pieces.randomElement(using: &generator)!, at: place)
                }
            }
            try compare(line)
        }
    }
}
