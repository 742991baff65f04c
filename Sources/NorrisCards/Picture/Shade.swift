import Glibc

/// A part of a picture, in pixels from its upper left corner.
struct Rectangle: Equatable {
    var x: Int
    var y: Int
    var width: Int
    var height: Int
}

/// Rows of a picture whose lights are dimmed so that letters are readable. A shade has the full width, so that no edge
/// beside the letters is visible. Dark areas are unchanged.
struct Shade {
    /// The rows with the full strength.
    let rows: Range<Int>
    /// The number of rows above and below in which the strength decreases.
    let fade: Int
    /// The maximum relative luminance of a pixel in the rows (WCAG 2.2, "relative luminance"), from 0 to 1.
    let ceiling: Float

    /// The strength in a row, from 0 to 1.
    func strength(row: Int) -> Float {
        let distance = max(rows.lowerBound - row, row - (rows.upperBound - 1), 0)
        guard distance > 0 else { return 1 }
        return eased(1 - min(Float(distance) / Float(max(fade, 1)), 1))
    }

    /// Dims a row of the picture.
    ///
    /// - Parameter spared: the sun or moon beside the letters, which is not dimmed.
    func dim(row: Int, of line: UnsafeMutableBufferPointer<LinearColor>, sparing spared: Halo?) {
        let strength = strength(row: row)
        guard strength > 0 else { return }
        let halo = spared.flatMap { $0.rows.contains(row) ? $0 : nil }
        for column in 0..<line.count {
            var loss = strength * (1 - kept(ofLuminance: line[column].luminance))
            if let halo { loss *= 1 - halo.share(column: column, row: row) }
            line[column] *= 1 - loss
        }
    }

    /// The part of its light that a pixel keeps at full strength.
    @inline(__always) func kept(ofLuminance luminance: Float) -> Float {
        // Up to two thirds of the ceiling everything; above it less and less.
        let knee = ceiling * 0.67
        let excess = max(luminance - knee, 0)
        let room = ceiling - knee
        return luminance > knee ? (knee + room * excess / (room + excess)) / luminance : 1
    }
}

/// The relative luminance of a color (WCAG 2.2, "relative luminance").
///
/// - Parameter color: 0x00RRGGBB in sRGB.
func relativeLuminance(_ color: UInt32) -> Float {
    func linear(_ shift: UInt32) -> Float {
        let value = Float(color >> shift & 0xFF) / 255
        return value <= 0.04045 ? value / 12.92 : powf((value + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0)
}
