import NorrisProtocol
import Testing

struct ArgumentsTests {
    @Test("A getter that does not fit the shape answers as if the parameter were absent")
    func answersNothingForAnotherShape() throws {
        let arguments = try FactRandom.description.arguments(
            from: ["category": "dev", "count": 3, "name": "Ada", "allow_explicit": true]
        )
        #expect(arguments.integer("name") == nil)
        #expect(arguments.string("count") == nil)
        #expect(arguments.strings("count") == [])
        #expect(!arguments.flag("count"))
        #expect(arguments.integer("count") == 3)
        #expect(arguments.strings("name") == ["Ada"])
    }
}
