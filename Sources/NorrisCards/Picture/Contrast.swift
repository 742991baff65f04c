import Glibc

/// The relative luminance of a colour (WCAG 2.2, "relative luminance").
///
/// - Parameter color: 0x00RRGGBB in sRGB.
func relativeLuminance(_ color: UInt32) -> Float {
    func linear(_ shift: UInt32) -> Float {
        let value = Float(color >> shift & 0xFF) / 255
        return value <= 0.04045 ? value / 12.92 : powf((value + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0)
}

/// The relative luminance of the brightest ground on which letters are distinct enough.
///
/// - Parameters:
///   - letters: their relative luminance; they are brighter than the ground.
///   - ratio: the contrast; 4.5 is what WCAG 2.2 asks for (success criterion 1.4.3).
func brightestGround(letters: Float, ratio: Float) -> Float {
    (letters + 0.05) / ratio - 0.05
}
