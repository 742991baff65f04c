import NorrisProtocol
import NorrisText

extension Fact {
    /// A fact from a joke of api.chucknorris.io; nil if it is none.
    ///
    /// `id` and `value` must be there. Categories are under `categories`, before 2019 under `category`. What cannot be
    /// used of anything else is left out, and members that are not known do not matter.
    init?(joke: JSON, _ budget: DecodingBudget) {
        guard case .object(let object) = joke,
            case .string(let id)? = object["id"], Self.isUsableID(id),
            case .string(let value)? = object["value"], let text = Self.text(value, budget),
            let categories = Self.categories(object)
        else { return nil }
        self.init(
            id: id,
            text: text,
            categories: categories,
            source: "chucknorris",
            url: Self.url(object["url"]),
            createdAt: Self.time(object["created_at"]),
            updatedAt: Self.time(object["updated_at"])
        )
    }

    /// The longest id that `fact.get` takes, in code points, and nothing that is not visible in one line. A colon, or
    /// `builtin-`, belongs to ids of other sources.
    private static func isUsableID(_ id: String) -> Bool {
        (1...200).contains(id.unicodeScalars.count) && sanitizedLine(id).hasSameBytes(as: id)
            && !id.utf8.contains(UInt8(ascii: ":")) && !id.utf8.starts(with: "builtin-".utf8)
    }

    private static func text(_ value: String, _ budget: DecodingBudget) -> String? {
        var text = sanitizedText(holdsMarkup(value, budget) ? plainText(fromHTML: value, budget) : value)[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return (1...maximumLength).contains(text.unicodeScalars.count) ? String(text) : nil
    }

    /// Nil if they are neither absent nor null nor of a type that was ever sent.
    private static func categories(_ object: JSONObject) -> [String]? {
        var names: [JSON]
        switch (object["categories"] ?? .null, object["category"] ?? .null) {
        case (.array(let several), _), (.null, .array(let several)): names = several
        case (.null, .string(let single)): names = [.string(single)]
        case (.null, .null): names = []
        default: return nil
        }
        names.removeAll { if case .string = $0 { false } else { true } }
        return categoryNames(names)
    }

    /// So many names of one list are read; an upstream has sixteen. The store keeps fewer of a fact, and counts.
    private static let maximumNames = 64

    /// Those that may be names of categories, each once, in their order.
    static func categoryNames(_ names: [JSON]) -> [String] {
        var kept: [String] = []
        for case .string(let name) in names where isCategoryName(name) && !kept.contains(name) {
            if kept.count < maximumNames {
                kept.append(name)
            } else if name.hasSameBytes(as: explicitCategory) {
                // Without it the fact would be served to everybody.
                kept[maximumNames - 1] = name
            }
        }
        return kept
    }

    private static func url(_ json: JSON?) -> String? {
        guard case .string(let url)? = json, url.utf8.count <= 2048, HTTPURL(url) != nil else { return nil }
        return url
    }

    /// `2020-01-05 13:42:19.324003`, which is UTC, with any number of digits; or RFC 3339.
    private static func time(_ json: JSON?) -> Timestamp? {
        guard case .string(let time)? = json else { return nil }
        let parts = time.split(separator: " ", omittingEmptySubsequences: false)
        let joined = parts.count == 2 ? "\(parts[0])T\(parts[1])" : time
        return Timestamp(joined) ?? Timestamp(joined + "Z")
    }
}
