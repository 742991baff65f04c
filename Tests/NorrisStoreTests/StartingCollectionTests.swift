import NorrisProtocol
import Testing

@testable import NorrisStore

struct StartingCollectionTests {
    private static let categories = [
        "animal", "career", "celebrity", "dev", "fashion", "food", "history", "money", "movie", "music", "science",
        "sport", "travel",
    ]

    private let facts = StartingCollection.facts()

    @Test(arguments: categories) func categoryHasEnoughFacts(category: String) {
        let count = facts.count { $0.categories.contains(category) }
        #expect(count >= (category == "dev" ? 30 : 8))
    }

    @Test func idsAreUniqueAndOfTheAlphabetOfCompletionWords() {
        #expect(Set(facts.map(\.id)).count == facts.count)
        for fact in facts { #expect(fact.id.wholeMatch(of: /builtin-[0-9a-v]{13}/) != nil, "\(fact)") }
    }

    /// The derivation of ids must not change, because users keep favorites by id.
    @Test(arguments: [
        ("Chuck Norris has no backups. He has witnesses.", "builtin-1dulrm4h1rneu"),
        // The id needs a leading zero, and the line in the collection ends with an additional category.
        (
            "Chuck Norris explained a bug to a rubber duck. The duck fixed it, and two more on the way out.",
            "builtin-0n09k11nnljre"
        ),
    ]) func idsAreDerivedAsEver(text: String, id: String) { #expect(facts.first { $0.text == text }?.id == id) }

    @Test func textsAreOnePrintableLineAboutChuckNorris() {
        for fact in facts {
            let scalars = fact.text.unicodeScalars
            #expect(fact.text.contains("Chuck Norris"), "\(fact)")
            #expect(!scalars.contains { $0.properties.generalCategory == .control }, "\(fact)")
            #expect(!scalars.contains { $0 == "\u{2028}" || $0 == "\u{2029}" }, "\(fact)")
            #expect(scalars.count <= 400, "\(fact)")
            #expect(scalars.first != " " && scalars.last != " ", "\(fact)")
            // The mark of an additional category must not remain in the text.
            #expect(!fact.text.contains(" #"), "\(fact)")
        }
    }

    /// `prompt-facts` contains 64 facts of at most 100 columns without characters that shells and prompts expand.
    @Test func enoughFactsFitAShellPrompt() {
        let fitting = facts.filter { fact in
            fact.text.utf8.count <= 100 && fact.text.utf8.allSatisfy { $0 < 0x80 }
                && !fact.text.contains { "`$\\%!".contains($0) }
        }
        #expect(fitting.count >= 64)
        #expect(fitting.count * 2 >= facts.count)
    }
}
