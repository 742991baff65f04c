import NorrisProtocol
import NorrisText

/// Lists of feeds (OPML 2.0, <http://opml.org/spec2.opml>).
enum OPML {
    /// An OPML document with feeds, in UTF-8.
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
        let lines = feeds.map { feed in
            let title = escaped(feed.title ?? feed.url)
            return "    <outline type=\"rss\" text=\"\(title)\" title=\"\(title)\" xmlUrl=\"\(escaped(feed.url))\"/>\n"
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <opml version="2.0">
              <head>
                <title>Feeds of norrisd</title>
              </head>
              <body>
            \(lines.joined())  </body>
            </opml>

            """
    }
}
