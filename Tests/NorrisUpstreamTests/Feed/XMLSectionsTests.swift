import Testing

@testable import NorrisUpstream

struct XMLSectionsTests {
    /// The sections right below the root.
    private func sections(_ document: String) throws -> [XMLElement] {
        // The address is one.
        let base = HTTPURL("https://x.example/")!
        var found: [XMLElement] = []
        let sections = XMLSections(base: base, budget: .untimed) {
            $0.count == 1 ? .enter : .take
        } section: {
            found.append($0)
        }
        #expect(try XMLReader.read(Array(document.utf8), sections, .untimed) == nil)
        return found
    }

    @Test func eachIsATreeOfItsOwn() throws {
        let found = try sections("<r>x<a b='1' c=''>one<i>two</i> three</a>y<a/><d xmlns='urn:d'>z</d></r>")
        #expect(found.map(\.name.local) == ["a", "a", "d"])
        #expect(found.map(\.text) == ["onetwo three", "", "z"])
        #expect(found.map(\.name.namespace) == [.none, .none, .other])
        #expect(found[0]["b"] == "1" && found[0]["c"] == nil && found[0]["d"] == nil)
        #expect(found[0].children("i").count == 1)
    }

    @Test func aTextIsBounded() throws {
        let long = String(repeating: "x", count: 400_000)
        let found = try sections("<r><a>\(long)<![CDATA[\(long)]]></a><a>y</a></r>")
        #expect(found.map(\.text.utf8.count) == [256 * 1024, 1])
    }

    @Test func theElementsOfATreeAreBounded() throws {
        let many = String(repeating: "<i>x<j/></i>", count: 20_000)
        let found = try sections("<r><a>\(many)</a><a><i>y</i></a></r>")
        #expect(found.count == 2)
        #expect(found[0].elements.count == 5000)
        #expect(found[1].text == "y")
    }
}
