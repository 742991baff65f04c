import Glibc
import NorrisProtocol

/// The last request line with an integer id, for the lines that repeat it with another id: they need not be parsed.
///
/// A line of the same bytes but for the digits of the id is valid in the same way, for another integer of at most 15
/// digits is one too. Clients that send many requests send such lines, and parsing one takes as long as answering it.
final class RepeatedLine {
    /// A longer line is not remembered.
    private static let maximumLength = 512
    /// So many digits are below 2^53.
    private static let maximumDigits = 15

    /// The request of the line. A class, so that it is lent and not copied.
    final class Request {
        let method: MethodRegistry.Method
        let arguments: Arguments

        init(_ method: MethodRegistry.Method, _ arguments: Arguments) {
            self.method = method
            self.arguments = arguments
        }
    }

    private var bytes: [UInt8] = []
    /// Where the id is in ``bytes``.
    private var id = 0..<0
    private var request: Request?
    private var misses = 0

    /// The request of a line that repeats the last one, and the line's id.
    @inline(__always)
    func match(_ line: UnsafeRawBufferPointer) -> (request: Request, id: JSONToken)? {
        let end = line.count - (bytes.count - id.upperBound)
        guard let request, end > id.lowerBound, end - id.lowerBound <= RepeatedLine.maximumDigits,
            let base = line.baseAddress
        else { return nil }
        let isSame = bytes.withUnsafeBytes { bytes in
            // Lines with requests are not empty.
            memcmp(base, bytes.baseAddress!, id.lowerBound) == 0
                && memcmp(base + end, bytes.baseAddress! + id.upperBound, bytes.count - id.upperBound) == 0
        }
        guard isSame else { return nil }
        let range = id.lowerBound..<end
        for offset in range where line[offset] &- UInt8(ascii: "0") > 9 { return nil }
        guard line[range.lowerBound] != UInt8(ascii: "0") || range.count == 1 else { return nil }
        return (request, JSONToken(.integer, range))
    }

    /// Remembers a line that was not the last one's repetition, now and then: to do so costs a little.
    func note(_ line: UnsafeRawBufferPointer, _ envelope: RequestEnvelope, _ method: MethodRegistry.Method) {
        misses += 1
        guard misses.isMultiple(of: 8), line.count <= RepeatedLine.maximumLength, let id = envelope.id,
            id.kind == .integer, line[id.range.lowerBound] != UInt8(ascii: "-"),
            id.range.count <= RepeatedLine.maximumDigits
        else { return }
        // A copy, so that the arguments do not hold the connection's input.
        bytes = Array(line)
        guard let arguments = try? method.description.arguments(in: bytes[...], params: envelope.params) else {
            request = nil
            return
        }
        (self.id, request) = (id.range, Request(method, arguments))
    }
}
