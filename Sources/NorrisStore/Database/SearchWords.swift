import CLinux
package import NorrisProtocol
import NorrisText

/// The words of a search in stored texts: every word must occur, in any order, ignoring case.
package struct SearchWords: Sendable, Hashable {
    /// The text as typed.
    package let text: String
    /// The words, and phrases in double quotes, in the form of `searchable(_:)`.
    let words: [String]

    /// - Throws: `-32602` for a text without words, with too many words, or with U+0000.
    package init(_ text: String) throws(ResponseError) {
        guard !text.utf8.contains(0) else {
            throw .invalidParams("query must not hold the character U+0000.", parameter: "query")
        }
        words = searchWords(of: text)
        guard !words.isEmpty else { throw .invalidParams("query must hold a word to search for.", parameter: "query") }
        guard words.count <= SearchQuery.maximumWords else {
            throw .invalidParams("query has more than \(SearchQuery.maximumWords) words.", parameter: "query")
        }
        self.text = text
    }

    /// Whether all words occur in some texts, each word in any of them.
    func match(_ texts: [String?]) -> Bool {
        var stored = SearchWords.storedText(texts)
        return stored.withUTF8 { matches(UnsafeRawBufferPointer($0)) }
    }

    /// Whether all words occur in a ``storedText(_:)``.
    func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let start = text.baseAddress else { return false }
        return words.allSatisfy { word in
            var word = word
            // Not nil, because a word has at least one character.
            return word.withUTF8 { memmem(start, text.count, $0.baseAddress!, $0.count) != nil }
        }
    }

    /// Texts in the form that searches read. A newline separates them, which no word contains.
    static func storedText(_ texts: [String?]) -> String {
        texts.compactMap { $0.map(searchable) }.filter { !$0.isEmpty }.joined(separator: "\n")
    }
}

extension Post {
    /// The texts that a search reads.
    var searchedTexts: [String?] { [title, text] + tags + [author.name, author.handle] }
}
