/// The fuzz targets.
///
/// libFuzzer generates inputs for each target (`Driver.swift`); the unit tests check the stored inputs
/// (`CorpusTests.swift`).
enum Fuzzing {
    /// Checks one input. Inputs are at most 4 KiB long, unless an option of libFuzzer says otherwise.
    typealias Target = @Sendable (ArraySlice<UInt8>) -> Void

    static let targets: [(name: String, run: Target)] = [
        ("configuration", fuzzConfiguration), ("dates", fuzzDates), ("exchange", fuzzExchange), ("feed", fuzzFeed),
        ("fortunes", fuzzFortunes), ("html", fuzzHTML), ("opml", fuzzOPML), ("records", fuzzRecords),
        ("replies", fuzzReplies), ("requests", fuzzRequests), ("sanitizer", fuzzSanitizer),
        ("shuffles", fuzzShuffles), ("tokenizer", fuzzTokenizer), ("upstreams", fuzzUpstreams), ("urls", fuzzURLs),
    ]
}

/// Ends the process if the condition is false. Unlike `assert`, also in a release build.
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { fatalError(message()) }
}

/// The text of an input; invalid bytes are replaced.
func text(_ input: ArraySlice<UInt8>) -> String { String(decoding: input, as: UTF8.self) }

extension ArraySlice<UInt8> {
    /// Removes and returns the first byte; 0 for an empty input.
    mutating func takeByte() -> UInt8 { popFirst() ?? 0 }
}
