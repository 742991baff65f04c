import Testing

@testable import NorrisCards

struct PaletteTests {
    private static let categories = [
        "animal", "career", "celebrity", "dev", "explicit", "fashion", "food", "history", "money", "movie", "music",
        "political", "religion", "science", "sport", "travel",
    ]

    @Test func everyCategoryHasColoursOfItsOwn() {
        let palettes = Self.categories.map { Palette(category: $0, seed: 0) }
        for (index, palette) in palettes.enumerated() {
            let isNew = !palettes[..<index].contains(palette)
            #expect(isNew, "\(Self.categories[index])")
        }
    }

    @Test func aCategoryHasTheSameColoursForEverySeed() {
        #expect(Palette(category: "dev", seed: 1) == Palette(category: "dev", seed: 2))
        #expect(Palette(category: "köder", seed: 1) == Palette(category: "köder", seed: 2))
    }

    @Test func withoutACategoryTheSeedChooses() {
        #expect(Palette(category: nil, seed: 0) != Palette(category: nil, seed: 1))
        #expect(Palette(category: nil, seed: .max) == Palette(category: nil, seed: .max))
    }
}
