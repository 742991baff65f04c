import CPango
import NorrisProtocol

@testable import NorrisCards

func fact(
    _ text: String, id: String = "kvGZiIrcTZKfMXNKCfbqlw", categories: [String] = ["dev"],
    source: String = "chucknorris"
) -> Fact { Fact(id: id, text: text, categories: categories, source: source) }

/// The options on a command line of `norris-card`.
func options(_ words: [String]) throws -> CardOptions {
    guard case .card(let options) = try CardRequest(arguments: words) else { preconditionFailure("no card: \(words)") }
    return options
}

/// The pixels of a card in the form 0x00RRGGBB.
struct Picture: Equatable {
    let width: Int
    let height: Int
    var pixels: [UInt32]

    init?(png: [UInt8]) {
        var rest = png[...]
        let surface = withUnsafeMutablePointer(to: &rest) { rest in
            cairo_image_surface_create_from_png_stream(
                { closure, target, count in
                    // SAFETY: `closure` is the pointer passed below, and `target` has room for `count` bytes.
                    let rest = closure!.assumingMemoryBound(to: ArraySlice<UInt8>.self)
                    guard rest.pointee.count >= Int(count) else { return CAIRO_STATUS_READ_ERROR }
                    for (index, byte) in rest.pointee.prefix(Int(count)).enumerated() { target![index] = byte }
                    rest.pointee = rest.pointee.dropFirst(Int(count))
                    return CAIRO_STATUS_SUCCESS
                }, rest)
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

/// The visible difference of two pictures: the distance of the mean colors of cells of 4 × 4 pixels, with channels
/// from 0 to 1. The means cancel grain and the smoothing of edges.
struct PictureDistance {
    private(set) var mean: Float = 0
    /// The largest distance of a cell.
    private(set) var worst: Float = 0

    init?(_ first: Picture, _ second: Picture) {
        guard first.width == second.width, first.height == second.height else { return nil }
        let (columns, rows) = (first.width / 4, first.height / 4)
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
    fileprivate func color(column: Int, row: Int) -> SIMD4<Float> {
        var sum = SIMD4<UInt32>.zero
        for y in row * 4..<row * 4 + 4 {
            for x in column * 4..<column * 4 + 4 {
                let pixel = pixels[y * width + x]
                sum &+= SIMD4(pixel >> 16 & 0xFF, pixel >> 8 & 0xFF, pixel & 0xFF, 0)
            }
        }
        return SIMD4<Float>(sum) / (16 * 255)
    }
}
