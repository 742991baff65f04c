@testable import NorrisClient

extension Client {
    /// A call on a separate connection.
    func call(
        _ line: [UInt8], maximumReply: Int = Connection.maximumReply, ticker: Ticker? = nil
    ) throws(ClientError) -> [UInt8] {
        var open: Connection?
        return try call(line, maximumReply: maximumReply, ticker: ticker, reusing: &open)
    }
}
