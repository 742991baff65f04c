import NorrisProtocol
import Testing

struct MethodTableTests {
    private let names = MethodTable.methods.map(\.name)

    @Test func isSortedByNameWithoutDoubles() {
        #expect(names == Set(names).sorted())
    }

    @Test func hasTheMethodsOfThisVersion() {
        #expect(
            names == [
                "author.list", "cache.clear", "event.subscribe", "fact.categories", "fact.get", "fact.random",
                "fact.search", "fact.today", "favorite.add", "favorite.import", "favorite.list", "favorite.remove",
                "gif.get", "gif.random", "gif.search", "gif.trending", "post.get", "post.list", "post.mark_read",
                "recent.clear", "recent.list", "recent.served", "rpc.discover", "server.info", "server.metrics",
                "server.reload", "server.status", "source.refresh",
            ]
        )
        #expect(MethodTable.methods.filter(\.isAdministrative).map(\.name) == ["cache.clear", "server.reload"])
        #expect(
            MethodTable.capabilities == [
                "author", "cache", "event", "fact", "favorite", "gif", "post", "recent", "rpc", "server", "source",
            ]
        )
    }

    @Test("A name is a group and a verb, in lower case")
    func hasValidNames() throws {
        for method in MethodTable.methods {
            #expect(method.name.wholeMatch(of: /[a-z]+\.[a-z]+(_[a-z]+)*/) != nil, "\(method.name)")
            for parameter in method.parameters {
                #expect(parameter.name.wholeMatch(of: /[a-z]+(_[a-z]+)*/) != nil, "\(method.name) \(parameter.name)")
            }
            #expect(Set(method.parameters.map(\.name)).count == method.parameters.count, "\(method.name)")
        }
    }

    @Test("Every method and parameter is described by a sentence")
    func hasSentences() {
        for method in MethodTable.methods {
            for summary in [method.summary] + method.parameters.map(\.summary) {
                #expect(summary.hasSuffix("."), "\(method.name): \(summary)")
                #expect(summary.first?.isUppercase == true, "\(method.name): \(summary)")
            }
        }
    }
}
