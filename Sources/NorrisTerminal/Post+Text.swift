import NorrisProtocol
import NorrisText

extension Post {
    /// Its title, of one line; nil where there is nothing to see.
    var heading: String? { title.map(sanitizedLine).flatMap { $0.isEmpty ? nil : $0 } }

    /// Its text with its newlines; nil where there is nothing to see.
    var body: String? { text.map(sanitizedText).flatMap { sanitizedLine($0).isEmpty ? nil : $0 } }

    /// Its title, unless its text begins with that: many feeds make titles of the first words, cut or not.
    var separateHeading: String? {
        guard let heading, let words = body.map(sanitizedLine) else { return heading }
        let isCut = heading.hasSuffix("…")
        let start = isCut ? heading.dropLast() : heading[...]
        guard words.utf8.starts(with: start.utf8) else { return heading }
        let next = words.unicodeScalars[words.utf8.index(words.startIndex, offsetBy: start.utf8.count)...].first
        // The title Go stays above a text that begins with Google.
        let endsInWord = next.map { $0.properties.isAlphabetic || $0.properties.numericType != nil } ?? false
        return endsInWord && !isCut ? heading : nil
    }

    /// What its author warns of; nil if it may be shown as it is.
    var warning: String? {
        isSensitive ? heading.map { "Sensitive: \($0)" } ?? "Sensitive" : nil
    }

    /// All that it says, as one line; of what is sensitive the warning alone, unless all is asked for.
    func line(showsAll: Bool) -> String {
        if let warning, !showsAll { return warning }
        let words = [warning ?? separateHeading, body.map(sanitizedLine)].compactMap { $0 }
        if !words.isEmpty { return words.joined(separator: ": ") }
        if !images.isEmpty { return "[\(countText(images.count, "image"))]" }
        return url ?? "-"
    }
}

extension Post.Author {
    /// What to call them.
    var displayName: String {
        [name, handle ?? "", id].map(sanitizedLine).first { !$0.isEmpty } ?? "-"
    }
}

extension Post.Stats {
    /// `12 likes · 1 comment`; nil where nobody did anything.
    var text: String? {
        let parts = [(likes, "like"), (comments, "comment"), (shares, "share")].compactMap { count, noun in
            count.flatMap { $0 > 0 ? countText($0, noun) : nil }
        }
        return parts.isEmpty ? nil : parts.joined(separator: " · ")
    }
}

extension Post.Image {
    /// What it shows, else the name of its file, else where it is.
    var label: String {
        let shown = sanitizedLine(alt ?? "")
        guard shown.isEmpty else { return shown }
        let path = url.prefix { $0 != "?" && $0 != "#" }
        let parts = path.split(separator: "/").dropFirst(path.contains("://") ? 1 : 0)
        let name = sanitizedLine(String(parts.last ?? ""))
        return name.isEmpty ? "image" : name
    }

    /// `640×480`, in pixels; empty if it is not known.
    var size: String {
        guard let width, let height, width > 0, height > 0 else { return "" }
        return "\(width)×\(height)"
    }
}
