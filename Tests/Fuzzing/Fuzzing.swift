import Glibc

/// Runs one fuzz target with libFuzzer (https://llvm.org/docs/LibFuzzer.html), which generates the inputs. A violated
/// check ends the process, and libFuzzer then stores the input.
///
/// The variable `FUZZ_TARGET` selects the target, because libFuzzer starts further processes with the same arguments;
/// without the variable, the program lists the targets.
@main enum Fuzzing {
    /// Checks one input. Inputs are at most 4 KiB long, unless an option of libFuzzer says otherwise.
    typealias Target = @Sendable (ArraySlice<UInt8>) -> Void

    static let targets: [(name: String, run: Target)] = [
        ("configuration", fuzzConfiguration), ("dates", fuzzDates), ("exchange", fuzzExchange), ("feed", fuzzFeed),
        ("fortunes", fuzzFortunes), ("html", fuzzHTML), ("opml", fuzzOPML), ("records", fuzzRecords),
        ("replies", fuzzReplies), ("requests", fuzzRequests), ("sanitizer", fuzzSanitizer),
        ("shuffles", fuzzShuffles), ("tokenizer", fuzzTokenizer), ("upstreams", fuzzUpstreams), ("urls", fuzzURLs),
    ]

    /// The target of this process; nil if the variable names none.
    static let current = getenv("FUZZ_TARGET").flatMap { name in
        targets.first { $0.name == String(cString: name) }?.run
    }

    static func main() {
        guard current != nil else {
            print(targets.map(\.name).joined(separator: "\n"))
            exit(getenv("FUZZ_TARGET") == nil ? 0 : 64)
        }
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(runDriver(&count, &arguments, check))
    }
}

private func check(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Fuzzing.current?(Array(UnsafeBufferPointer(start: bytes, count: count))[...])
    return 0
}

/// `LLVMFuzzerRunDriver` of FuzzerInterface.h.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ target: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

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
