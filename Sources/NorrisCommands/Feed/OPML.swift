import NorrisProtocol
import NorrisText

/// Lists of feeds (OPML 2.0, <http://opml.org/spec2.opml>).
enum OPML {
    /// An OPML document with feeds, in UTF-8. A feed is in the folder of its first tag.
    static func document(_ feeds: [FeedLink]) -> String {
        func escaped(_ text: String) -> String {
            var result = ""
            for scalar in sanitizedLine(text).unicodeScalars {
                switch scalar {
                case "&": result += "&amp;"
                case "<": result += "&lt;"
                case ">": result += "&gt;"
                case "\"": result += "&quot;"
                default: result.unicodeScalars.append(scalar)
                }
            }
            return result
        }
        func outlines(_ feeds: [FeedLink], _ indentation: String) -> String {
            feeds.map { feed in
                let title = escaped(feed.title ?? feed.url)
                let category = feed.tags.isEmpty ? "" : " category=\"\(escaped(feed.tags.joined(separator: ",")))\""
                let names = "text=\"\(title)\" title=\"\(title)\"\(category)"
                return "\(indentation)<outline type=\"rss\" \(names) xmlUrl=\"\(escaped(feed.url))\"/>\n"
            }.joined()
        }
        let folders = Dictionary(grouping: feeds, by: \.tags.first)
        var lines = outlines(folders[nil] ?? [], "    ")
        for folder in SourceTag.unique(feeds.compactMap(\.tags.first), upTo: .max) {
            let content = outlines(folders[folder] ?? [], "      ")
            lines += "    <outline text=\"\(escaped(folder))\">\n\(content)    </outline>\n"
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <opml version="2.0">
              <head>
                <title>Feeds of norrisd</title>
              </head>
              <body>
            \(lines)  </body>
            </opml>

            """
    }
}
