import NorrisProtocol
import NorrisText

extension Gif {
    /// A GIF from an item of Giphy's; nil if it has no usable id.
    ///
    /// What cannot be used of anything else is left out, and members that are not known do not matter.
    init?(giphy json: JSON, _ budget: DecodingBudget) {
        guard case .object(let object) = json, let id = Self.id(object["id"]) else { return nil }
        self.init(
            id: id,
            title: Self.line(object["title"], upTo: 300, budget) ?? "",
            rating: Self.word(object["rating"]),
            pageURL: Self.url(object["url"]) ?? "https://giphy.com/gifs/\(id)",
            username: Self.line(object["username"], upTo: 100, budget),
            altText: Self.line(object["alt_text"], upTo: 1000, budget),
            isSticker: LenientJSON.flag(object["is_sticker"]) ?? (LenientJSON.string(object["type"]) == "sticker"),
            renditions: Self.renditions(object["images"]),
            importedAt: Self.time(object["import_datetime"]),
            trendingAt: Self.time(object["trending_datetime"])
        )
    }

    /// The names of Giphy's other endpoints, which stand where an id would.
    private static let reserved: Set<String> = ["categories", "random", "related", "search", "translate", "trending"]

    static func isUsableID(_ id: String) -> Bool {
        isName(id, upTo: 64) && !reserved.contains(id.lowercased())
    }

    private static func id(_ json: JSON?) -> String? {
        switch json {
        case .string(let id)? where isUsableID(id): id
        // A large number would already have lost digits: JSON has none above 2^53.
        case .integer(let number)? where number >= 0: String(number)
        default: nil
        }
    }

    private static func isName(_ text: String, upTo length: Int) -> Bool {
        (1...length).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                isLetterOrDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default:
            false
        }
    }

    /// Nil if nothing is left of it.
    private static func line(_ json: JSON?, upTo length: Int, _ budget: DecodingBudget) -> String? {
        guard let raw = LenientJSON.string(json) else { return nil }
        let text = holdsMarkup(raw, budget) ? plainText(fromHTML: raw, budget) : raw
        var line = String(String.UnicodeScalarView(sanitizedLine(text).unicodeScalars.prefix(length)))
        // Where it was cut there may be one.
        while line.last?.isWhitespace == true { line.removeLast() }
        return line.isEmpty ? nil : line
    }

    private static func word(_ json: JSON?) -> String {
        guard let text = LenientJSON.string(json), isName(text, upTo: 10),
            !text.utf8.contains(UInt8(ascii: "_")), text == text.lowercased()
        else { return "" }
        return text
    }

    /// Byte for byte, as Giphy demands; nil if it is no address of the web, or longer than programs take.
    private static func url(_ json: JSON?) -> String? {
        guard let url = LenientJSON.string(json), url.utf8.count <= 2083, HTTPURL(url) != nil else { return nil }
        return url
    }

    /// `2020-09-22 01:31:35`, which is UTC; nil for 0000-00-00 and 1970-01-01, which mean never.
    private static func time(_ json: JSON?) -> Timestamp? {
        guard let text = LenientJSON.string(json) else { return nil }
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, let time = Timestamp("\(parts[0])T\(parts[1])Z"), time.seconds > 0 else { return nil }
        return time
    }

    /// Giphy has some twenty; so many are kept.
    private static let maximumRenditions = 64

    private static func renditions(_ json: JSON?) -> [String: Rendition] {
        guard case .object(let object)? = json else { return [:] }
        var renditions: [String: Rendition] = [:]
        for (name, value) in object.members where isName(name, upTo: 40) && renditions.count < maximumRenditions {
            renditions[name] = rendition(value)
        }
        return renditions
    }

    /// Nil if it leads nowhere.
    private static func rendition(_ json: JSON) -> Rendition? {
        guard case .object(let object) = json else { return nil }
        let rendition = Rendition(
            url: url(object["url"]),
            mp4: url(object["mp4"]),
            webp: url(object["webp"]),
            width: LenientJSON.extent(object["width"]),
            height: LenientJSON.extent(object["height"]),
            bytes: LenientJSON.size(object["size"]),
            frames: LenientJSON.extent(object["frames"])
        )
        return rendition.url ?? rendition.mp4 ?? rendition.webp == nil ? nil : rendition
    }
}
