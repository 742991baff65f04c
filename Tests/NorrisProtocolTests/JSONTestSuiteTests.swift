import Foundation
import NorrisProtocol
import Testing

/// The public JSONTestSuite: `y_` files must be accepted and `n_` files refused; RFC 8259 leaves `i_` files open.
struct JSONTestSuiteTests {
    /// Files that RFC 8259 permits, refused here because of a duplicate key.
    private static let refusedByChoice: Set = [
        "y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json",
    ]

    /// The error for each `i_` file; nil if the file is accepted.
    private static let undecided: [String: JSONError.Reason?] = [
        "i_number_double_huge_neg_exp.json": nil, "i_number_huge_exp.json": .numberTooLarge,
        "i_number_neg_int_huge_exp.json": .numberTooLarge, "i_number_pos_double_huge_exp.json": .numberTooLarge,
        "i_number_real_neg_overflow.json": .numberTooLarge, "i_number_real_pos_overflow.json": .numberTooLarge,
        "i_number_real_underflow.json": nil, "i_number_too_big_neg_int.json": .integerOutOfRange,
        "i_number_too_big_pos_int.json": .integerOutOfRange, "i_number_very_big_negative_int.json": .integerOutOfRange,
        "i_object_key_lone_2nd_surrogate.json": .loneSurrogate,
        "i_string_1st_surrogate_but_2nd_missing.json": .loneSurrogate,
        "i_string_1st_valid_surrogate_2nd_invalid.json": .loneSurrogate,
        "i_string_UTF-16LE_with_BOM.json": .unexpectedByte, "i_string_UTF-8_invalid_sequence.json": .invalidUTF8,
        "i_string_UTF8_surrogate_U+D800.json": .invalidUTF8,
        "i_string_incomplete_surrogate_and_escape_valid.json": .loneSurrogate,
        "i_string_incomplete_surrogate_pair.json": .loneSurrogate,
        "i_string_incomplete_surrogates_escape_valid.json": .loneSurrogate,
        "i_string_invalid_lonely_surrogate.json": .loneSurrogate, "i_string_invalid_surrogate.json": .loneSurrogate,
        "i_string_invalid_utf-8.json": .invalidUTF8, "i_string_inverted_surrogates_U+1D11E.json": .loneSurrogate,
        "i_string_iso_latin_1.json": .invalidUTF8, "i_string_lone_second_surrogate.json": .loneSurrogate,
        "i_string_lone_utf8_continuation_byte.json": .invalidUTF8, "i_string_not_in_unicode_range.json": .invalidUTF8,
        "i_string_overlong_sequence_2_bytes.json": .invalidUTF8,
        "i_string_overlong_sequence_6_bytes.json": .invalidUTF8,
        "i_string_overlong_sequence_6_bytes_null.json": .invalidUTF8, "i_string_truncated-utf-8.json": .invalidUTF8,
        "i_string_utf16BE_no_BOM.json": .unexpectedByte, "i_string_utf16LE_no_BOM.json": .unexpectedByte,
        "i_structure_500_nested_arrays.json": .tooDeep, "i_structure_UTF-8_BOM_empty_object.json": .byteOrderMark,
    ]

    private let files: [String: [UInt8]]

    init() throws {
        let folder = try #require(Bundle.module.url(forResource: "JSONTestSuite", withExtension: nil))
            .appendingPathComponent("test_parsing")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        files = try Dictionary(
            uniqueKeysWithValues: names.map { ($0, Array(try Data(contentsOf: folder.appendingPathComponent($0)))) })
    }

    @Test func isComplete() {
        #expect(names("y_").count == 95)
        #expect(names("n_").count == 188)
        #expect(Set(names("i_")) == Set(Self.undecided.keys))
    }

    @Test func acceptsWhatMustBeAccepted() {
        for name in names("y_") {
            #expect(reason(name) == (Self.refusedByChoice.contains(name) ? .duplicateKey : nil), "\(name)")
        }
    }

    @Test func refusesWhatMustBeRefused() {
        for name in names("n_") {
            #expect(reason(name) != nil, "\(name)")
        }
    }

    @Test func decidesTheUndecidedAsListed() {
        for (name, expected) in Self.undecided { #expect(reason(name) == expected, "\(name)") }
    }

    private func names(_ prefix: String) -> [String] {
        files.keys.filter { $0.hasPrefix(prefix) }.sorted()
    }

    private func reason(_ name: String) -> JSONError.Reason? {
        do throws(JSONError) {
            _ = try JSON.parse(files[name] ?? [])
            return nil
        } catch {
            return error.reason
        }
    }
}
