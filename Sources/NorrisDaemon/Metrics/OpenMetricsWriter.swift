import NorrisText

/// Writes the text format of OpenMetrics 1.0, family by family.
///
/// It knows only the types that the older text format of Prometheus has as well: node_exporter's textfile collector
/// refuses a file with any other.
struct OpenMetricsWriter {
    enum Kind: String {
        case counter, gauge, histogram
    }

    typealias Labels = [(name: String, value: String)]

    private var body = ""
    private var family = ""
    private var kind = Kind.gauge

    /// The text so far, with its end.
    var text: String { body + "# EOF\n" }

    /// Begins a family, to which the samples that follow belong. A name comes once only.
    ///
    /// - Parameters:
    ///   - name: without the `_total` of counters.
    ///   - unit: what the name ends in, if it has one: base units such as `seconds` and `bytes`.
    ///   - help: one sentence, without backslash, quotation mark and newline.
    mutating func family(_ name: String, _ kind: Kind, unit: String? = nil, help: String) {
        (family, self.kind) = (name, kind)
        body += "# TYPE \(name) \(kind.rawValue)\n"
        if let unit { body += "# UNIT \(name) \(unit)\n" }
        body += "# HELP \(name) \(help)\n"
    }

    /// Begins a family of gauges, with its only sample where there is a value.
    mutating func gauge(_ name: String, _ value: Int? = nil, unit: String? = nil, help: String) {
        family(name, .gauge, unit: unit, help: help)
        if let value { sample(value) }
    }

    mutating func sample(_ value: Int, _ labels: Labels = []) {
        line(kind == .counter ? "_total" : "", labels, "\(value)")
    }

    /// - Parameters:
    ///   - bounds: the upper bounds of the buckets but the last, which has none; rising.
    ///   - counts: how many observations are in each bucket, those of lower ones not counted again.
    mutating func histogram(bounds: [Double], counts: [Int], sum: Double, _ labels: Labels) {
        var count = 0
        for (index, further) in counts.enumerated() {
            count += further
            let bound = index < bounds.count ? "\(bounds[index])" : "+Inf"
            line("_bucket", labels + [("le", bound)], "\(count)")
        }
        line("_count", labels, "\(count)")
        line("_sum", labels, "\(sum)")
    }

    private mutating func line(_ suffix: String, _ labels: Labels, _ value: String) {
        let pairs = labels.map { "\($0)=\"\(OpenMetricsWriter.escaped($1))\"" }.joined(separator: ",")
        body += family + suffix + (pairs.isEmpty ? "" : "{\(pairs)}") + " \(value)\n"
    }

    /// A label's value: without what a terminal obeys, and with what the format gives a meaning escaped.
    private static func escaped(_ value: String) -> String {
        var result = ""
        for scalar in sanitizedText(value).unicodeScalars {
            switch scalar {
            case "\\", "\"": result += "\\\(scalar)"
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
