import Testing

@testable import NorrisCards

struct TypeScaleTests {
    @Test func lettersGetSmallerWithoutSteps() {
        var before = TypeScale.size(columns: 0)
        for columns in 1...20_000 {
            let size = TypeScale.size(columns: columns)
            #expect(size <= before && size >= TypeScale.smallest)
            // Four per cent from one length to the next cannot be told by the eye.
            #expect(columns < 20 || size > 0.96 * before)
            before = size
        }
        #expect(before == TypeScale.smallest)
        #expect(TypeScale.size(columns: 80) > 2 * TypeScale.smallest)
    }

    @Test func smallLettersStandWiderApart() {
        #expect(TypeScale.lineHeight(size: TypeScale.smallest) > 1.4)
        #expect(TypeScale.lineHeight(size: 0.1) < 1.25)
        #expect(TypeScale.lineHeight(size: 0.5) > 1.1)
    }
}
