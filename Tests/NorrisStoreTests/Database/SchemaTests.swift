import Testing

@testable import NorrisProtocol
@testable import NorrisStore

/// Pins the forms in which values are stored, so that a change of a value cannot forget the files of users.
struct SchemaTests {
    @Test("A change of the fields of facts or GIFs raises the version of the cache, which is then fetched again")
    func theVersionOfTheCacheRises() {
        let fact = """
            {id:string,text:string,categories:[string],source:string,url?:string,created_at?:time,updated_at?:time}
            """
        let gif = """
            {id:string,title:string,rating:string,page_url:string,username?:string,alt_text?:string,\
            sticker:true|false,renditions:{name:Rendition},imported_at?:time,trending_at?:time,\
            attribution:"Powered by GIPHY"}
            """
        #expect(DatabaseKind.cache.version == 9)
        #expect(fields("Fact") == fact, "Raise the version, store the field in a column, then change both here.")
        #expect(fields("Gif") == gif, "Raise the version of DatabaseKind.cache, then change both here.")
    }

    @Test(
        "A change of a table raises the version",
        arguments: [
            (DatabaseKind.cache, 9, 17_242_084_588_489_518_022), (DatabaseKind.state, 6, 17_491_882_317_191_922_222),
        ] as [(DatabaseKind, Int64, UInt64)])
    func theVersionOfTheTablesRises(kind: DatabaseKind, version: Int64, tables: UInt64) {
        #expect(kind.version == version)
        let hash = SipHash.hash(kind.schema.joined(separator: "\n"))
        #expect(
            hash == tables,
            """
            Raise the version of \(kind.fileName), and write a migration of the state; with the old number, each \
            installed file counts as damaged. Then write both numbers here.
            """)
    }

    private func fields(_ name: String) -> String? {
        SharedSchemas.all.first { $0.name == name }.map { "\($0.schema)" }
    }

    @Test("A favorite with the fewest fields is read, because the state is never fetched again")
    func newFieldsAreOptional() throws {
        let fact = #"{"id":"a","text":"A fact.","categories":[],"source":"chucknorris"}"#
        #expect(try Fact(parsing: Array(fact.utf8)).id == "a", "Make the field optional.")
        let post = """
            {"id":"s:1","source":"s","author":{"id":"s:ada","name":"Ada"},"tags":[],"images":[],"stats":{},\
            "read":false}
            """
        #expect(try Post(parsing: Array(post.utf8)).id == "s:1", "Make the field optional.")
    }
}
