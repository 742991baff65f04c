import Glibc

/// Runs one fuzz target with libFuzzer (https://llvm.org/docs/LibFuzzer.html), which generates the inputs. A violated
/// check ends the process, and libFuzzer then stores the input.
///
/// The variable `FUZZ_TARGET` selects the target, because libFuzzer starts further processes with the same arguments;
/// without the variable, the program lists the targets.
@main enum Driver {
    /// The target of this process; nil if the variable names none.
    static let current = getenv("FUZZ_TARGET").flatMap { name in
        Fuzzing.targets.first { $0.name == String(cString: name) }?.run
    }

    static func main() {
        guard current != nil else {
            print(Fuzzing.targets.map(\.name).joined(separator: "\n"))
            exit(getenv("FUZZ_TARGET") == nil ? 0 : 64)
        }
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(runDriver(&count, &arguments, check))
    }
}

private func check(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Driver.current?(Array(UnsafeBufferPointer(start: bytes, count: count))[...])
    return 0
}

/// `LLVMFuzzerRunDriver` of FuzzerInterface.h.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ target: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
