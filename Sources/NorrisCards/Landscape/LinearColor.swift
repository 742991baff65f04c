/// Light: red, green and blue of sRGB before its transfer function, where colours may be added and multiplied. The
/// fourth number is not used.
typealias LinearColor = SIMD4<Float>

extension LinearColor {
    /// WCAG 2.2, "relative luminance".
    var luminance: Float { 0.2126 * x + 0.7152 * y + 0.0722 * z }

    /// This colour with a part, 0 to 1, of another one.
    @inline(__always)
    func mixed(_ other: LinearColor, _ part: Float) -> LinearColor { self + (other - self) * part }
}
