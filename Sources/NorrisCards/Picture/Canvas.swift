import CPango

/// Some rows of a card: pixels that the landscape is painted into and Cairo draws letters on.
final class Canvas {
    let pixels: UnsafeMutableBufferPointer<UInt32>
    private let surface: OpaquePointer
    /// What Cairo draws with.
    let context: OpaquePointer

    init(width: Int, rows: Int) throws(CardError) {
        pixels = .allocate(capacity: width * rows)
        pixels.initialize(repeating: 0)
        // A stride of four bytes a pixel is what Cairo requires of this format.
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

    /// Tells Cairo that the pixels have been written to, and draws.
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
