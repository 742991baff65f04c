import NorrisProtocol
import NorrisTestSupport
import Testing

struct JSONParseTests {
    @Test(arguments: ["[": "]", "{\"a\":": "}"])
    func opensThirtyTwoBracketsAndNoMore(open: String, close: String) throws {
        func nested(_ levels: Int) -> String {
            String(repeating: open, count: levels) + "1" + String(repeating: close, count: levels)
        }
        #expect(throws: Never.self) { try JSON.parse(nested(32)) }
        #expect(throws: JSONError(.tooDeep, at: 32 * open.utf8.count)) { try JSON.parse(nested(33)) }
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("-12", -12), ("9007199254740992", .integer(9_007_199_254_740_992)),
            ("-9007199254740992", .integer(-9_007_199_254_740_992)), ("1.0", 1.0), ("-0.0", 0.0), ("1e2", 100.0),
            ("1E+2", 100.0), ("25e-1", 2.5), ("9007199254740993.0", 9_007_199_254_740_992.0),
            ("123456789012345678901e0", 123_456_789_012_345_683_968.0),
            ("1.7976931348623157e308", .double(.greatestFiniteMagnitude)), ("5e-324", .double(.leastNonzeroMagnitude)),
            ("1e-400", 0.0), ("0e99999999999999999999", 0.0),
            ("0." + String(repeating: "0", count: 400) + "1e401", 1.0),
            ("1" + String(repeating: "0", count: 400) + "e-400", 1.0), (#""""#, ""),
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9\u20AC""#, "é€"),
            (#""\ud83d\ude00!""#, "😀!"), (#""before \u0000 after""#, "before \0 after"),
            (#""😀 and – dashes""#, "😀 and – dashes"), (#""\uDBFF\uDFFF""#, "\u{10FFFF}"),
            ("\"\u{7F}\u{FFFF}\"", "\u{7F}\u{FFFF}"),
        ] as [(String, JSON)])
    func readsNumbersAndStrings(text: String, value: JSON) throws { #expect(try JSON.parse(text) == value) }

    @Test(
        arguments: [
            ("9007199254740993", .integerOutOfRange, 0), ("-9007199254740993", .integerOutOfRange, 0),
            ("18446744073709551616", .integerOutOfRange, 0),
            (String(repeating: "9", count: 5000), .integerOutOfRange, 0), ("1e400", .numberTooLarge, 0),
            ("-1e400", .numberTooLarge, 0), ("1.8e308", .numberTooLarge, 0),
            ("1e99999999999999999999", .numberTooLarge, 0),
            ("9" + String(repeating: "0", count: 400) + ".0", .numberTooLarge, 0),
            (#"{"a":1,"a":1}"#, .duplicateKey, 7), (#"{"é":1,"\u00e9":2}"#, .duplicateKey, 8),
            (#"{"":1,"b":2,"":3}"#, .duplicateKey, 12), (#"[{"x":{"a":1,"b":2,"a":3}}]"#, .duplicateKey, 19),
            (#""\ud800""#, .loneSurrogate, 1), (#""ab\udc00""#, .loneSurrogate, 3),
            (#""\ud800\ud800""#, .loneSurrogate, 1), (#""\ud800\n""#, .loneSurrogate, 1),
            (#"{"\udfff":1}"#, .loneSurrogate, 2), (#""\u12g4""#, .invalidEscape, 1), ("01", .invalidNumber, 0),
            ("", .unexpectedEnd, 0), ("  ", .unexpectedEnd, 2), ("[1,", .unexpectedEnd, 3),
            ("{\"a\"", .unexpectedEnd, 4), ("\"abc", .unexpectedEnd, 4), ("\"\\", .unexpectedEnd, 2),
            ("tru", .unexpectedEnd, 3), ("[1,]", .unexpectedByte, 3), ("{\"a\":1,}", .unexpectedByte, 7),
            ("{1:2}", .unexpectedByte, 1), ("[1}", .unexpectedByte, 2), ("nul1", .unexpectedByte, 3),
            ("[1 2]", .unexpectedByte, 3), ("\u{A0}1", .unexpectedByte, 0), ("{}{}", .trailingBytes, 2),
            ("1\0", .trailingBytes, 1), ("\u{FEFF}{}", .byteOrderMark, 0),
        ] as [(String, JSONError.Reason, Int)])
    func namesWhatIsWrongAndWhere(text: String, reason: JSONError.Reason, offset: Int) {
        #expect(throws: JSONError(reason, at: offset)) { try JSON.parse(text) }
    }

    @Test func takesCanonicallyEquivalentKeysForDifferentOnes() throws {
        let object = try JSON.parse("{\"\u{E9}\":1,\"e\u{301}\":2}").objectValue()
        #expect(object["\u{E9}"] == 1)
        #expect(object["e\u{301}"] == 2)
    }

    @Test func refusesEveryRawControlCharacterAtEveryPlace() {
        for byte in UInt8(0)..<0x20 {
            for length in 0..<18 {
                var line = Array(("\"" + String(repeating: "x", count: 20) + "\"").utf8)
                line[1 + length] = byte
                #expect(throws: JSONError(.controlCharacter, at: 1 + length)) { try JSON.parse(line) }
            }
        }
    }

    @Test(
        arguments: [
            [0x80], [0xC3], [0xC0, 0xAF], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF],
            [0xF0, 0x80, 0x80, 0xAF],
        ] as [[UInt8]])
    func refusesInvalidUTF8InStringsAndKeys(bytes: [UInt8]) {
        let quoted = [0x22] + bytes + [0x22]
        let escaped = Array(#""some text \n "#.utf8) + bytes + [0x22]
        #expect(throws: JSONError(.invalidUTF8, at: 0)) { try JSON.parse(quoted) }
        #expect(throws: JSONError(.invalidUTF8, at: 0)) { try JSON.parse(escaped) }
        #expect(throws: JSONError(.invalidUTF8, at: 1)) { try JSON.parse([0x7B] + quoted + Array(":1}".utf8)) }
        #expect(throws: JSONError(.unexpectedByte, at: 0)) { try JSON.parse(bytes) }
    }

    @Test("A duplicate key is found among many keys in every spelling", arguments: [3, 8, 9, 100, 1_000])
    func duplicateAmongMany(count: Int) throws {
        let plain = (0..<count).map { "\"k\($0)\":0" }
        let escaped = (0..<count).map { "\"\\u006b\($0)\":0" }
        let mixed = zip(plain, escaped).enumerated().map { index, key in index.isMultiple(of: 2) ? key.0 : key.1 }
        for keys in [plain, escaped, mixed] {
            let fine = "{" + keys.joined(separator: ",") + "}"
            guard case .object(let object) = try JSON.parse(fine) else { throw JSONError(.unexpectedByte, at: 0) }
            #expect(object.members.count == count)
            for index in [0, count / 2, count - 1] {
                for again in [plain[index], escaped[index]] {
                    let twice = String(fine.dropLast()) + "," + again + "}"
                    let error = #expect(throws: JSONError.self) { try JSON.parse(twice) }
                    #expect(error == JSONError(.duplicateKey, at: fine.utf8.count))
                    // The duplicate is also found in params, at any depth, and in a batch.
                    for line in [twice, #"{"params":\#(twice)}"#, #"{"x":[{"y":\#(twice)}]}"#, "[\(twice)]"] {
                        #expect(throws: JSONError.self) {
                            try Array(line.utf8)[...].withRawBytes { bytes throws(JSONError) in try RequestLine(bytes) }
                        }
                    }
                }
            }
        }
    }
}
