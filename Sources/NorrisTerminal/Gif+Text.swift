import NorrisProtocol
import NorrisText

extension Gif {
    /// What to call it, in one line that is never empty.
    var headline: String {
        if hasTitle {
            return sanitizedLine(title)
        }
        return author.map { "GIF by \($0)" } ?? "untitled"
    }

    /// What is known of it and of the picture that is shown: `480×229`, `20 frames`, `932 KiB`, `g`, `by NAME`.
    func details(of picture: Picture?) -> [String] {
        var details: [String] = []
        if let picture {
            let rendition = picture.rendition
            if let width = rendition.width, let height = rendition.height, width > 0, height > 0 {
                details.append("\(width)×\(height)")
            }
            if let frames = rendition.frames, frames > 0 {
                details.append(countText(frames, "frame"))
            }
            if picture.hasKnownSize, let bytes = rendition.bytes, bytes > 0 {
                details.append(byteSizeText(bytes))
            }
        }
        details += [rating, isSticker ? "sticker" : ""].filter { !sanitizedLine($0).isEmpty }
        // Without a title the headline has the name already.
        if hasTitle, let author {
            details.append("by \(author)")
        }
        return details
    }

    /// What it shows, in words, unless the title says just that; one line.
    var caption: String? {
        guard let text = altText.map(sanitizedLine), !text.isEmpty, !text.hasSameBytes(as: headline) else { return nil }
        return text
    }

    private var hasTitle: Bool { !sanitizedLine(title).isEmpty }

    private var author: String? {
        username.map(sanitizedLine).flatMap { $0.isEmpty ? nil : $0 }
    }
}
