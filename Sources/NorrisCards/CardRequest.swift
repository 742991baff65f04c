import NorrisText

/// What `norris-card` is asked for.
enum CardRequest: Equatable {
    case help
    case version
    /// A picture, or the text that stands for it.
    case card(size: Int, showsTags: Bool, isText: Bool)

    /// Reads the arguments of a command line, without the program's name. The last of several `--size` counts.
    init(arguments: [String]) throws(CardFailure) {
        var size = 1080
        var showsTags = true
        var isText = false
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--alt": isText = true
            case "--help", "-h":
                self = .help
                return
            case "--no-tags": showsTags = false
            case "--size": size = try CardRequest.size(rest.popFirst() ?? "")
            case "--version":
                self = .version
                return
            case _ where argument.hasPrefix("--size="):
                size = try CardRequest.size(String(argument.dropFirst("--size=".count)))
            default: throw .usage("'\(sanitizedLine(argument))' is unknown; norris-card --help says what there is.")
            }
        }
        self = .card(size: size, showsTags: showsTags, isText: isText)
    }

    private static func size(_ text: String) throws(CardFailure) -> Int {
        guard let size = Int(text), Card.sizes.contains(size) else {
            let (low, high) = (Card.sizes.lowerBound, Card.sizes.upperBound)
            throw .usage("--size '\(sanitizedLine(text))' is no number from \(low) to \(high).")
        }
        return size
    }
}
