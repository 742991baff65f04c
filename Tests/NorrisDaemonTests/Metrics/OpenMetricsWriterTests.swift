import NorrisTestSupport
import Testing

@testable import NorrisDaemon

struct OpenMetricsWriterTests {
    @Test func nothingButTheEndIsAText() throws {
        #expect(OpenMetricsWriter().text == "# EOF\n")
        #expect(try OpenMetricsSamples("# EOF\n").values.isEmpty)
    }

    @Test func familiesComeWithTypeUnitAndHelp() {
        var writer = OpenMetricsWriter()
        writer.family("a_bytes", .gauge, unit: "bytes", help: "What a has.")
        writer.sample(-1)
        writer.family("b", .counter, help: "What came.")
        writer.sample(2, [("x", "1"), ("y", "2")])
        writer.family("c", .gauge, help: "Not known.")
        #expect(writer.text == """
            # TYPE a_bytes gauge
            # UNIT a_bytes bytes
            # HELP a_bytes What a has.
            a_bytes -1
            # TYPE b counter
            # HELP b What came.
            b_total{x="1",y="2"} 2
            # TYPE c gauge
            # HELP c Not known.
            # EOF

            """)
    }

    @Test func bucketsAddUp() throws {
        var writer = OpenMetricsWriter()
        writer.family("d_seconds", .histogram, unit: "seconds", help: "How long.")
        writer.histogram(bounds: [1e-5, 0.5, 1], counts: [3, 0, 2, 1], sum: 7.25, [("x", "1")])
        #expect(writer.text.hasSuffix("""
            d_seconds_bucket{x="1",le="1e-05"} 3
            d_seconds_bucket{x="1",le="0.5"} 3
            d_seconds_bucket{x="1",le="1.0"} 5
            d_seconds_bucket{x="1",le="+Inf"} 6
            d_seconds_count{x="1"} 6
            d_seconds_sum{x="1"} 7.25
            # EOF

            """))
        #expect(try OpenMetricsSamples(writer.text).types == ["d_seconds": "histogram"])
    }

    @Test("A label keeps its text, whatever it holds", arguments: [
        ("a\\b", #"a\\b"#), ("a\"b", #"a\"b"#), ("a\nb", #"a\nb"#), ("\\n", #"\\n"#), ("{a=\"b\"} 1\n# EOF\n", nil),
        ("é👍🏽", "é👍🏽"), ("", ""),
    ])
    func labels(_ value: String, _ written: String?) throws {
        var writer = OpenMetricsWriter()
        writer.family("e", .gauge, help: "E.")
        writer.sample(1, [("x", value)])
        #expect(try OpenMetricsSamples(writer.text).values == ["e x=\(value)": 1])
        if let written { #expect(writer.text.contains("\ne{x=\"\(written)\"} 1\n")) }
    }

    @Test func whatATerminalObeysIsNotInALabel() throws {
        var writer = OpenMetricsWriter()
        writer.family("f", .gauge, help: "F.")
        writer.sample(1, [("x", "a\u{1B}[31mb\u{7}\u{85}\u{202E}c\r\nd")])
        #expect(writer.text.contains("\nf{x=\"abc\\nd\"} 1\n"))
    }
}
