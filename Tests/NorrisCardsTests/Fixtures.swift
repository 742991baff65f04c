import CPango
import NorrisProtocol

@testable import NorrisCards

/// A fact to draw.
func fact(
    _ text: String, id: String = "kvGZiIrcTZKfMXNKCfbqlw", categories: [String] = ["dev"],
    source: String = "chucknorris"
) -> Fact {
    Fact(id: id, text: text, categories: categories, source: source)
}

/// The contrast of two relative luminances, 1 to 21 (WCAG 2.2, "contrast ratio").
func contrast(_ first: Float, _ second: Float) -> Float {
    (max(first, second) + 0.05) / (min(first, second) + 0.05)
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
                    // Both are there: the one is given below, the other has room for the count.
                    let rest = closure!.assumingMemoryBound(to: ArraySlice<UInt8>.self)
                    guard rest.pointee.count >= Int(count) else { return CAIRO_STATUS_READ_ERROR }
                    for (index, byte) in rest.pointee.prefix(Int(count)).enumerated() {
                        target![index] = byte
                    }
                    rest.pointee = rest.pointee.dropFirst(Int(count))
                    return CAIRO_STATUS_SUCCESS
                },
                rest
            )
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
