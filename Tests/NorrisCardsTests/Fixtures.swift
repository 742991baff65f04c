import CPango
import Glibc
import NorrisProtocol

@testable import NorrisCards

/// A fact to draw.
func fact(
    _ text: String, id: String = "kvGZiIrcTZKfMXNKCfbqlw", categories: [String] = ["dev"],
    source: String = "chucknorris"
) -> Fact {
    Fact(id: id, text: text, categories: categories, source: source)
}

/// The pixels of a card, each 0x00RRGGBB.
struct Picture: Equatable {
    let width: Int
    let height: Int
    var pixels: [UInt32]

    /// Reads a PNG with Cairo.
    init?(png: [UInt8]) {
        var rest = png[...]
        let surface = withUnsafeMutablePointer(to: &rest) { rest in
            cairo_image_surface_create_from_png_stream(
                { closure, target, count in
                    // Both are there: the one is passed below, the other has room for the count.
                    let rest = closure!.assumingMemoryBound(to: ArraySlice<UInt8>.self)
                    guard rest.pointee.count >= Int(count) else { return CAIRO_STATUS_READ_ERROR }
                    for (index, byte) in rest.pointee.prefix(Int(count)).enumerated() { target![index] = byte }
                    rest.pointee = rest.pointee.dropFirst(Int(count))
                    return CAIRO_STATUS_SUCCESS
                },
                rest)
        }
        defer { cairo_surface_destroy(surface) }
        guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS, let data = cairo_image_surface_get_data(surface)
        else { return nil }
        width = Int(cairo_image_surface_get_width(surface))
        height = Int(cairo_image_surface_get_height(surface))
        let count = width * height
        // A row of this format has no padding.
        pixels = data.withMemoryRebound(to: UInt32.self, capacity: count) { data in
            (0..<count).map { data[$0] & 0xFF_FFFF }
        }
    }
}

/// How different two pictures look: the distance in OKLab (Björn Ottosson, "A perceptual color space for image
/// processing", 2020, <https://bottosson.github.io/posts/oklab/>; black and white are 1 apart) of cells of 4 × 4
/// pixels, in which grain and the smoothing of edges are averaged out.
struct PerceptualDistance {
    /// Of all cells.
    private(set) var mean: Float = 0
    /// Of the cell that differs most.
    private(set) var worst: Float = 0

    private static let cell = 4

    /// Nil for pictures of different sizes.
    init?(_ first: Picture, _ second: Picture) {
        guard first.width == second.width, first.height == second.height else { return nil }
        let columns = first.width / PerceptualDistance.cell
        let rows = first.height / PerceptualDistance.cell
        for row in 0..<rows {
            for column in 0..<columns {
                let difference = first.color(column: column, row: row) - second.color(column: column, row: row)
                let distance = (difference * difference).sum().squareRoot()
                mean += distance / Float(columns * rows)
                worst = max(worst, distance)
            }
        }
    }
}

extension Picture {
    /// The OKLab colour of a cell.
    fileprivate func color(column: Int, row: Int) -> SIMD4<Float> {
        var light = SIMD4<Float>.zero
        for y in row * 4..<row * 4 + 4 {
            for x in column * 4..<column * 4 + 4 {
                let pixel = pixels[y * width + x]
                func part(_ shift: UInt32) -> Float { Self.linear[Int(pixel >> shift & 0xFF)] }
                light += SIMD4(part(16), part(8), part(0), 0)
            }
        }
        light /= 16
        let cones = SIMD3(
            cbrtf(0.4122214708 * light.x + 0.5363325363 * light.y + 0.0514459929 * light.z),
            cbrtf(0.2119034982 * light.x + 0.6806995451 * light.y + 0.1073969566 * light.z),
            cbrtf(0.0883024619 * light.x + 0.2817188376 * light.y + 0.6299787005 * light.z)
        )
        return SIMD4(
            0.2104542553 * cones.x + 0.7936177850 * cones.y - 0.0040720468 * cones.z,
            1.9779984951 * cones.x - 2.4285922050 * cones.y + 0.4505937099 * cones.z,
            0.0259040371 * cones.x + 0.7827717662 * cones.y - 0.8086757660 * cones.z, 0
        )
    }

    private static let linear: [Float] = (0...255).map { level in
        let value = Float(level) / 255
        return value <= 0.04045 ? value / 12.92 : powf((value + 0.055) / 1.055, 2.4)
    }
}
