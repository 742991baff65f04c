import Logging
import NorrisProtocol

@testable import NorrisServer

/// Bodies for every method of the table that show what the registry and the exchange do with them.
enum TestMethods {
    /// - Parameters:
    ///   - bodies: put in place of the ones here.
    ///   - isAdministrator: nobody, unless said.
    static func registry(
        _ bodies: [String: MethodBody] = [:],
        isAdministrator: @escaping @Sendable (Peer) -> Bool = { _ in false }
    ) -> MethodRegistry {
        var all: [String: MethodBody] = [:]
        for method in MethodTable.methods {
            all[method.name] = echo
        }
        return MethodRegistry(bodies: all.merging(bodies) { $1 }, isAdministrator: isAdministrator)
    }

    /// Answers the query or count it was given, at once.
    static let echo: MethodBody = { call, json throws(ResponseError) in
        json.beginObject()
        json.member("count", call.arguments.integer("count"))
        json.member("query", call.arguments.string("query"))
        json.endObject()
        return nil
    }

    /// The same, later.
    static let laterEcho: MethodBody = { call, json throws(ResponseError) in
        // What is written before the wait is decided must not be sent.
        json.beginObject()
        json.member("garbage", true)
        let query = call.arguments.string("query") ?? ""
        return { () async throws(ResponseError) -> [UInt8] in
            await Task.yield()
            if query == "fail" { throw .storage("It failed later.") }
            return JSON.object(["later": .string(query)]).jsonBytes
        }
    }

    /// Writes half a value and fails.
    static let failing: MethodBody = { _, json throws(ResponseError) in
        json.beginObject()
        json.key("half")
        json.beginArray()
        json.string("of a value")
        throw .notFound("Nothing here.")
    }

    static func long(_ bytes: Int) -> MethodBody {
        { _, json throws(ResponseError) in
            json.string(String(repeating: "x", count: bytes))
            return nil
        }
    }

    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
