package import NorrisProtocol

extension Gif {
    /// One address of a GIF, and the rendition it belongs to.
    package struct Picture: Equatable, Sendable {
        /// Byte for byte as Giphy gave it: http or https, visible ASCII.
        package let address: String
        package let rendition: Rendition
        /// Whether the rendition's size in bytes is that of what the address leads to.
        package let hasKnownSize: Bool
    }

    /// What is looked for first where no rendition is named, best first.
    package static let preferredRenditions = [
        "original", "fixed_height", "fixed_width", "downsized", "downsized_medium", "downsized_large",
        "fixed_height_small", "fixed_width_small",
    ]

    /// The picture of a rendition; of the best that there is if none is named, pictures before films.
    ///
    /// An address that cannot be printed as it is counts as none.
    package func picture(_ rendition: String? = nil) -> Picture? {
        let names = rendition.map { [$0] } ?? namesByPreference
        let forms: [KeyPath<Rendition, String?>] = [\.url, \.mp4, \.webp]
        for form in forms {
            for name in names {
                guard let rendition = renditions[name], let address = rendition[keyPath: form],
                    isWebAddress(address)
                else { continue }
                return Picture(address: address, rendition: rendition, hasKnownSize: form == \.url)
            }
        }
        return nil
    }

    private var namesByPreference: [String] {
        let others = renditions.keys.filter { !Self.preferredRenditions.contains($0) }.sorted()
        let stills = others.filter { $0.hasSuffix("_still") }
        return Self.preferredRenditions + others.filter { !$0.hasSuffix("_still") } + stills
    }
}
