import CLinux
package import NorrisProtocol
import NorrisText

/// The words of a search in stored texts: every word must occur, in any order, ignoring case.
package struct SearchWords: Sendable, Hashable {
    static let maximumWords = 16
    /// In code points.
    package static let maximumLength = 1_000

    /// The text as typed.
    package let text: String
    /// The words, and phrases in double quotes, in the form of `searchable(_:)`.
    let words: [String]

    /// - Throws: `-32602` for a text without words, with too many words, too long, or with U+0000.
    package init(_ text: String) throws(ResponseError) {
        guard text.unicodeScalars.count <= SearchWords.maximumLength else {
            throw .invalidParams("query is longer than \(SearchWords.maximumLength) characters.", parameter: "query")
        }
        guard !text.utf8.contains(0) else {
            throw .invalidParams("query must not hold the character U+0000.", parameter: "query")
        }
        words = searchWords(of: text)
        guard !words.isEmpty else { throw .invalidParams("query must hold a word to search for.", parameter: "query") }
        guard words.count <= SearchWords.maximumWords else {
            throw .invalidParams("query has more than \(SearchWords.maximumWords) words.", parameter: "query")
        }
        self.text = text
    }

    /// Whether all words occur in some texts, each word in any of them.
    func match(_ texts: [String?]) -> Bool {
        var stored = SearchWords.storedText(texts)
        return stored.withUTF8 { text in
            words.allSatisfy { word in
                var word = word
                return word.withUTF8 { memmem(text.baseAddress, text.count, $0.baseAddress, $0.count) != nil }
            }
        }
    }

    /// Texts in the form that searches read. A newline separates them, which no word contains.
    static func storedText(_ texts: [String?]) -> String {
        texts.compactMap { $0.map(searchable) }.filter { !$0.isEmpty }.joined(separator: "\n")
    }
}

extension Post {
    /// The texts that a search reads, without the author.
    var searchedTexts: [String?] { [title, text] + tags }
}

extension Post.Author {
    var searchedTexts: [String?] { [name, handle] }
}

/// Finds the posts that contain all words of a search, in their texts or in the names of their authors.
struct PostMatcher {
    private let words: [[UInt8]]
    /// For each author whose names contain a word: a bit for each of ``words`` that they contain.
    private var authors: [SequenceNumber: UInt32] = [:]

    /// Reads all authors.
    init(_ search: SearchWords, _ database: Database) throws {
        // The longest word is usually the rarest.
        words = search.words.map { Array($0.utf8) }.sorted { $0.count > $1.count }
        let rows = try database.rows("SELECT number, searched FROM authors")
        while try rows.next() {
            let found = rows.withBytes(1) { names in
                words.enumerated().reduce(UInt32(0)) {
                    $0 | (PostMatcher.contains(names, $1.element) ? 1 << $1.offset : 0)
                }
            }
            if found != 0 { authors[rows[0]] = found }
        }
    }

    /// - Parameter text: ``SearchWords/storedText(_:)`` of the post.
    func matches(_ text: UnsafeRawBufferPointer, author: SequenceNumber) -> Bool {
        let named = authors[author] ?? 0
        return words.enumerated().allSatisfy { index, word in
            named & 1 << UInt32(index) != 0 || PostMatcher.contains(text, word)
        }
    }

    private static func contains(_ text: UnsafeRawBufferPointer, _ word: [UInt8]) -> Bool {
        word.withUnsafeBytes { memmem(text.baseAddress, text.count, $0.baseAddress, $0.count) != nil }
    }
}
