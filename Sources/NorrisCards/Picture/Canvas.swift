import CPango

/// Some rows of a card: pixels that the landscape and Cairo draw on.
final class Canvas {
    let pixels: UnsafeMutableBufferPointer<UInt32>
    private let surface: OpaquePointer
    /// The context for Cairo.
    let context: OpaquePointer

    init(width: Int, rows: Int) throws(CardError) {
        pixels = .allocate(capacity: width * rows)
        pixels.initialize(repeating: 0)
        // Cairo requires a stride of four bytes a pixel for this format.
        surface = pixels.withMemoryRebound(to: UInt8.self) { bytes in
            cairo_image_surface_create_for_data(
                bytes.baseAddress, CAIRO_FORMAT_RGB24, Int32(width), Int32(rows), Int32(4 * width))
        }
        context = cairo_create(surface)
        try check()
    }

    deinit {
        cairo_destroy(context)
        cairo_surface_destroy(surface)
        pixels.deallocate()
    }

    /// Tells Cairo that the pixels have changed, and draws.
    func draw(color: UInt32, _ body: (OpaquePointer) -> Void) throws(CardError) {
        func part(_ shift: UInt32) -> Double { Double(color >> shift & 0xFF) / 255 }
        cairo_surface_mark_dirty(surface)
        cairo_set_source_rgb(context, part(16), part(8), part(0))
        body(context)
        cairo_surface_flush(surface)
        try check()
    }

    private func check() throws(CardError) {
        let status = cairo_status(context)
        guard status == CAIRO_STATUS_SUCCESS else {
            throw .failed("Cairo says: \(String(cString: cairo_status_to_string(status))).")
        }
    }
}
