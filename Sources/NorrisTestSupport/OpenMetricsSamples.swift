import Foundation

/// The samples of an OpenMetrics text as a strict parser reads it: the reference of the specification's authors, in
/// Debian's `python3-prometheus-client`. It also has one for the older format of Prometheus.
package struct OpenMetricsSamples {
    /// By the Python module that reads it.
    package enum Format: String {
        case openMetrics = "prometheus_client.openmetrics.parser"
        case prometheus = "prometheus_client.parser"
    }

    package struct Refused: Error, CustomStringConvertible { package let description: String }

    /// By name and labels, sorted: `norrisd_errors_total reason=busy`.
    package let values: [String: Double]
    /// The type of each family; the name of a counter is without `_total` in either format.
    package let types: [String: String]

    private struct Output: Decodable {
        let values: [String: Double]
        let types: [String: String]
    }

    private static let script = """
        import importlib, json, sys
        parser = importlib.import_module(sys.argv[1])
        values, types = {}, {}
        for family in parser.text_string_to_metric_families(sys.stdin.buffer.read().decode()):
            types[family.name] = family.type
            for sample in family.samples:
                key = " ".join([sample.name] + [f"{k}={v}" for k, v in sorted(sample.labels.items())])
                assert key not in values, key
                values[key] = sample.value
        json.dump({"values": values, "types": types}, sys.stdout)
        """

    package init(_ text: String, format: Format = .openMetrics) throws {
        // Debian's Python by its path: another one in PATH has not Debian's packages.
        let result = try run("/usr/bin/python3", ["-c", OpenMetricsSamples.script, format.rawValue], input: text)
        guard result.status == 0 else { throw Refused(description: result.errors) }
        let output = try JSONDecoder().decode(Output.self, from: Data(result.output.utf8))
        values = output.values
        types = output.types
    }

    package subscript(key: String) -> Double? { values[key] }
}
