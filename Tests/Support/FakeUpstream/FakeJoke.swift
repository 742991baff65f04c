import Glibc
package import NorrisProtocol
import NorrisSystem

/// A joke in the shape of api.chucknorris.io.
package struct FakeJoke: Sendable, Equatable, JSONEncodable {
    package var id: String
    package var value: String
    package var categories: [String]
    package var createdAt: String

    package init(
        id: String, value: String, categories: [String] = [], createdAt: String = "2020-01-05 13:42:19.324003"
    ) {
        (self.id, self.value, self.categories, self.createdAt) = (id, value, categories, createdAt)
    }

    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("categories", categories)
        json.member("created_at", createdAt)
        json.member("icon_url", "https://api.chucknorris.io/img/avatar/chuck-norris.png")
        json.member("id", id)
        json.member("updated_at", createdAt)
        json.member("url", "https://api.chucknorris.io/jokes/\(id)")
        json.member("value", value)
        json.endObject()
    }

    /// The upstream's search: the text anywhere in the joke, ignoring case; `%` and `_` are wildcards, as in SQL.
    package func matches(_ query: String) -> Bool {
        let wildcards: [Character: String] = ["%": "*", "_": "?", "*": "\\*", "?": "\\?", "[": "\\[", "\\": "\\\\"]
        let pattern = query.lowercased().map { wildcards[$0] ?? String($0) }.joined()
        return fnmatch("*\(pattern)*", value.lowercased(), 0) == 0
    }
}

extension FakeUpstream {
    /// The categories of the real upstream.
    package static let categories = [
        "animal", "career", "celebrity", "dev", "explicit", "fashion", "food", "history", "money", "movie", "music",
        "political", "religion", "science", "sport", "travel",
    ]

    /// Different jokes, equal in every run: every text contains `Chuck Norris`, every third joke has a category, every
    /// eighth id begins with a hyphen.
    package static func jokes(count: Int) -> [FakeJoke] {
        var generator = SeededRandom(seed: 22)
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789_-")
        return (0..<count).map { number in
            var id = String((0..<22).map { _ in letters[Int.random(in: letters.indices, using: &generator)] })
            if number % 8 == 0 { id = "-" + id.dropFirst() }
            let fraction = String("324003".prefix(number % 7))
            return FakeJoke(
                id: id, value: "Chuck Norris counted to \(number) \u{2014} and it said \"please stop\".",
                categories: number % 3 == 0 ? [categories[number / 3 % categories.count]] : [],
                createdAt: "2020-01-05 13:42:19" + (fraction.isEmpty ? "" : ".\(fraction)"))
        }
    }
}
