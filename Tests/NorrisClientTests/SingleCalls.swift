import NorrisSystem

@testable import NorrisClient

extension Client {
    /// A call on a separate connection.
    static func call(
        _ line: [UInt8], at paths: [String], within timeout: Duration = .seconds(300), ticker: Ticker? = nil
    ) throws(ClientError) -> [UInt8] {
        var client = Client(candidates: paths)
        return try client.call(line, by: Deadline(after: timeout), ticker: ticker)
    }
}
