/// A number with a noun: `9,000 items`, `1 item`.
///
/// - Parameter plural: nil for the noun with an s.
package func countText(_ count: Int, _ noun: String, plural: String? = nil) -> String {
    "\(groupedDigits(count)) \(count == 1 ? noun : plural ?? noun + "s")"
}

/// `1,234,567`.
package func groupedDigits(_ number: Int) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
        text += index > 0 && (digits.count - index).isMultiple(of: 3) ? "," : ""
        text.append(digit)
    }
    return text
}
