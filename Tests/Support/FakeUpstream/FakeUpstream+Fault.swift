import Foundation

extension FakeUpstream {
    /// A fault of an answer.
    package enum Fault: Sendable {
        /// The connection is reset instead of an answer.
        case reset
        /// There is never an answer.
        case hang
        /// The head at once, then one byte of the body at a time.
        case drip(every: Duration)
        /// The connection ends in the middle of the body.
        case truncated(chunked: Bool)
        /// A body without end.
        case endless
        /// These bytes, then the end of the connection.
        case raw(String)
        /// These bytes at once, before the request.
        case greeting(String)
        /// A well-formed answer to any request.
        case answer(status: Int, headers: [(String, String)], body: [UInt8])

        package static func status(_ status: Int, retryAfter: String? = nil, body: String = "") -> Fault {
            let headers = retryAfter.map { [("Retry-After", $0)] } ?? []
            return .answer(status: status, headers: headers, body: Array(body.utf8))
        }

        /// Status 200 with JSON as its content type.
        package static func json(_ body: String) -> Fault {
            .answer(status: 200, headers: [("Content-Type", "application/json")], body: Array(body.utf8))
        }

        package static func redirect(to location: String, status: Int = 302) -> Fault {
            .answer(status: status, headers: [("Location", location)], body: [])
        }

        package static let redirectLoop = redirect(to: "?query=again")

        /// The page of a captive portal.
        package static let html = answer(
            status: 200, headers: [("Content-Type", "text/html; charset=UTF-8")],
            body: Array("<!DOCTYPE html><html><body>Please log in</body></html>".utf8))

        package static let garbage = raw("\u{1}\u{2}\u{3} this is not HTTP \r\n\r\n")

        /// Status 200 with 100 header lines of 64 KiB.
        package static let longHead = answer(
            status: 200,
            headers: [(String, String)](repeating: ("X-Long", String(repeating: "x", count: 65_536)), count: 100),
            body: [])

        /// 16 MiB of zeros, compressed to about 16 KB.
        package static let gzipBomb = answer(
            status: 200, headers: [("Content-Type", "application/json"), ("Content-Encoding", "gzip")],
            body: gzipped([UInt8](repeating: 0, count: 16 << 20)))
    }
}

/// The bytes compressed as by gzip(1).
package func gzipped(_ bytes: [UInt8]) -> [UInt8] {
    let folder = TemporaryFolder()
    guard (try? Data(bytes).write(to: URL(filePath: folder("body")))) != nil,
        let result = try? run("sh", ["-c", #"gzip -nc "$0" | base64 -w0"#, folder("body")]),
        let data = Data(base64Encoded: result.output)
    else { preconditionFailure("gzip(1) cannot be run") }
    return Array(data)
}
