/// A number of things for people: `9,000 items`, `1 item`.
///
/// - Parameters:
///   - noun: of one of them.
///   - plural: of several; the noun with an s if nil.
package func countText(_ count: Int, _ noun: String, plural: String? = nil) -> String {
    "\(groupedDigits(count)) \(count == 1 ? noun : plural ?? noun + "s")"
}

/// `1,234,567`.
package func groupedDigits(_ number: Int) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
        if index > 0, (digits.count - index).isMultiple(of: 3) {
            text += ","
        }
        text.append(digit)
    }
    return text
}
