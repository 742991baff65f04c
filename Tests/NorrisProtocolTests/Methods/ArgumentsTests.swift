import NorrisProtocol
import Testing

struct ArgumentsTests {
    @Test("A getter that does not fit the shape answers as if the parameter were absent")
    func answersNothingForAnotherShape() throws {
        let arguments = try FactRandom.self.arguments(
            from: ["category": "dev", "count": 3, "name": "Ada", "allow_explicit": true]
        )
        #expect(arguments.integer("name") == nil)
        #expect(arguments.string("count") == nil)
        #expect(arguments.strings("count") == [])
        #expect(!arguments.flag("count"))
        #expect(arguments.integer("count") == 3)
        #expect(arguments.strings("name") == ["Ada"])
    }

    @Test("A list of objects is read whole, or what is wrong in it is named")
    func readsObjects() throws {
        let item: JSON = ["kind": "gif", "id": "a", "title": "t", "added_at": "2026-11-21T12:00:00Z"]
        let good = try FavoriteImport.self.arguments(from: ["items": .array([item])])
        let read: [Favorite] = try good.values("items")
        #expect(read == [Favorite(kind: .gif, id: "a", title: "t", addedAt: Timestamp(seconds: 1_795_262_400))])
        let bad = try FavoriteImport.self.arguments(from: ["items": .array([item, ["kind": "gif"]])])
        let error = #expect(throws: ResponseError.self) { let _: [Favorite] = try bad.values("items") }
        #expect(error?.code == .invalidParams)
        #expect(error?.details["parameter"] == "items")
        #expect(error?.message == "items.1.id is missing.")
    }
}
