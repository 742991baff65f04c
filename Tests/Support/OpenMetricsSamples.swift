import Foundation

/// The samples of an OpenMetrics text, read by the reference parser of the specification's authors in Debian's
/// `python3-prometheus-client`, which also reads the older Prometheus format.
package struct OpenMetricsSamples {
    /// The Python module of the format.
    package enum Format: String {
        case openMetrics = "prometheus_client.openmetrics.parser"
        case prometheus = "prometheus_client.parser"
    }

    package struct Refused: Error, CustomStringConvertible { package let description: String }

    /// By name and sorted labels: `norrisd_errors_total reason=busy`.
    package let values: [String: Double]
    /// The type of each family; the name of a counter has no `_total` in both formats.
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
        // Debian's Python by its path, because another Python in PATH lacks Debian's packages.
        let result = try run("/usr/bin/python3", ["-c", OpenMetricsSamples.script, format.rawValue], input: text)
        guard result.status == 0 else { throw Refused(description: result.errors) }
        let output = try JSONDecoder().decode(Output.self, from: Data(result.output.utf8))
        values = output.values
        types = output.types
    }

    package subscript(key: String) -> Double? { values[key] }
}
