import NorrisProtocol
import Testing

struct StableHashTests {
    @Test func isTheSameForEver() {
        #expect(stableHash("facts") == 5_785_116_629_745_249_858)
    }
}
