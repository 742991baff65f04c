import Testing

@testable import NorrisText

/// Holds the generated tables against what the standard library knows by itself.
struct UnicodeTablesTests {
    @Test(arguments: [UnicodeTables.zeroWidth, UnicodeTables.wide, UnicodeTables.emoji])
    func rangesAreSortedAndApart(table: [UInt32]) {
        #expect(table.count > 100 && table.count.isMultiple(of: 2))
        for index in stride(from: 0, to: table.count, by: 2) {
            #expect(table[index] <= table[index + 1])
            #expect(index == 0 || table[index - 1] + 1 < table[index])
        }
    }

    @Test func widthsAgreeWithTheStandardLibrary() {
        var wrong: [Unicode.Scalar] = []
        for value in Array(0xA0...0x323AF) + Array(0xE0000...0xE01FF) as [UInt32] {
            guard let scalar = Unicode.Scalar(value), let age = scalar.properties.age, age.major <= 15 else { continue }
            let width = displayWidth(of: Character(scalar))
            let isRight: Bool? =
                switch scalar.properties.generalCategory {
                case .nonspacingMark, .enclosingMark, .lineSeparator, .paragraphSeparator: width == 0
                case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .decimalNumber: width > 0
                case .privateUse: width == 1
                default:
                    if scalar.properties.isEmojiPresentation {
                        width == ((0x1F1E6...0x1F1FF).contains(value) ? 1 : 2)
                    } else if scalar.properties.isIdeographic {
                        width == 2
                    } else {
                        nil
                    }
                }
            if isRight == false {
                wrong.append(scalar)
            }
        }
        #expect(wrong.isEmpty)
    }

    @Test func emojiAgreeWithTheStandardLibrary() {
        var wrong: [Unicode.Scalar] = []
        for value in UInt32(0x20)...0x1FAFF {
            guard let scalar = Unicode.Scalar(value), let age = scalar.properties.age, age.major <= 15 else { continue }
            let isEmoji = scalar.properties.isEmoji && !(0x1F1E6...0x1F1FF).contains(value)
            let alone = displayWidth(of: "\(scalar)")
            if displayWidth(of: "\(scalar)\u{FE0F}") != (isEmoji ? 2 : alone) {
                wrong.append(scalar)
            }
        }
        #expect(wrong.isEmpty)
    }
}
