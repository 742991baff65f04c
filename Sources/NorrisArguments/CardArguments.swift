import NorrisText

/// The options of a card that `norrisctl card` and `norris-card` have in common.
package struct CardArguments: Equatable, Sendable {
    package enum Style: String, CaseIterable, Sendable { case scenic, poster }

    /// The shape of a card, whose height is then independent of the text.
    package enum Aspect: String, CaseIterable, Sendable {
        case square = "1:1"
        case portrait = "4:5"
        case story = "9:16"
        case wide = "16:9"
    }

    /// The subject of a landscape. norris-card derives the scene of a fact from the order of the cases.
    package enum Scene: String, CaseIterable, Sendable { case lake, desert, sea, forest, city, snow }

    /// The valid widths in pixels.
    package static let sizes = 256...4096
    /// In characters.
    private static let longestHeadline = 24

    package private(set) var size: Int?, style: Style?, headline: String?
    package private(set) var aspect: Aspect?, scene: Scene?
    /// The name at the foot, instead of the source.
    package private(set) var signature: String?
    package private(set) var leavesOutTags = false

    package init() {}

    package mutating func declare(_ arguments: inout CommandArguments) {
        arguments.option("style", ValueKind("style"), "scenic or poster. (default: scenic)", choices: Style.words) {
            assign(&style, Style(rawValue: $0))
        }
        arguments.option(
            "headline", ValueKind("word"),
            "The poster's headline, at most \(Self.longestHeadline) characters. (default: from the fact)",
            takes: "1 to \(Self.longestHeadline) characters, at least one of them visible"
        ) { assign(&headline, Self.headline($0)) }
        arguments.option(
            &size, "size", in: Self.sizes, "The width in pixels, 256 to 4096. (default: 1080; of 16:9, 1920)")
        arguments.option("aspect", ValueKind("aspect"), "1:1, 4:5, 9:16 or 16:9.", choices: Aspect.words) {
            assign(&aspect, Aspect(rawValue: $0))
        }
        arguments.option(
            "scene", ValueKind("scene"), "city, desert, forest, lake, sea or snow. (default: from the fact)",
            choices: Scene.words.sorted()
        ) { assign(&scene, Scene(rawValue: $0)) }
        arguments.flag(&leavesOutTags, "no-tags", "Leave out the #tags.")
        arguments.option(
            "by", ValueKind("name"), "Sign a text of your own with this name, at the foot.",
            takes: "at most 80 characters, at least one of them visible"
        ) { assign(&signature, Self.line($0, longest: 80)) }
    }

    /// A headline as drawn; nil if it is not visible or too long.
    package static func headline(_ text: String) -> String? { line(text, longest: longestHeadline) }

    private static func line(_ text: String, longest: Int) -> String? {
        let line = sanitizedLine(text).split(separator: " ").joined(separator: " ")
        return (1...longest).contains(line.count) && displayWidth(of: line) > 0 ? line : nil
    }

    /// The options on a command line.
    package var words: [String] {
        optionWords(
            ("--style", style?.rawValue), ("--headline", headline), ("--size", size.map(String.init)),
            ("--aspect", aspect?.rawValue), ("--scene", scene?.rawValue), ("--by", signature))
            + flagWords([("--no-tags", leavesOutTags)])
    }
}
