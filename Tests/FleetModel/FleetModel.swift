import Foundation

/// Simulates a fleet: reads a ``Scenario`` in JSON from the standard input, and writes a ``Report`` to the standard output.
///
/// Scripts/fleet/simulate runs this program, and compares it with real daemons.
@main enum FleetModel {
    static func main() throws {
        let input = FileHandle.standardInput.readDataToEndOfFile()
        let scenario = try JSONDecoder().decode(Scenario.self, from: input)
        var fleet = Fleet(scenario)
        fleet.run()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        FileHandle.standardOutput.write(try encoder.encode(fleet.report) + Data("\n".utf8))
    }
}

/// The machines, their sources, and the documents of the upstreams. Times are seconds.
struct Scenario: Decodable {
    struct Document: Decodable {
        /// The bytes of a response of the cache, and of the upstream, with the document.
        var cacheBytes: Int
        var originBytes: Int
        /// The lifetime in the cache.
        var lifetime: Double
        /// Whether the upstream states the lifetime, which then puts off the requests of the machines.
        var statesLifetime: Bool
        /// The time after which the document changes, counted from the beginning; 0 if the document never changes.
        var changesEvery: Double
    }

    struct Source: Decodable {
        var name: String
        var refresh: Double
        /// The documents of one run, as indices. A source with several documents requests only the first one, unless
        /// that document has changed or the seventh interval is over; see `FactSource`.
        var documents: [Int]
        /// The number of documents that have validators; the others are requested only after a change.
        var validated: Int
    }

    struct Outage: Decodable {
        var begin: Double
        var end: Double
    }

    var documents: [Document]
    var sources: [Source]
    /// The identifiers of the machines, and the times of their starts.
    var machines: [String]
    var starts: [Double]
    /// The number of machines that each simulated machine represents.
    var weight: Int
    var duration: Double
    /// The figures begin at this time.
    var measuredFrom: Double
    /// The time between a request of the cache and the upstream's response.
    var originLatency: Double
    /// The time of a response of the cache, without a request to the upstream.
    var cacheLatency: Double
    /// The bytes of a response without a document (status 304), of the cache and of the upstream.
    var unchangedCacheBytes: Int
    var unchangedOriginBytes: Int
    /// The times in which the upstream answers all requests with status 500.
    var outages: [Outage]
}

/// The figures of a simulation, for all machines together.
struct Report: Encodable {
    struct Traffic: Encodable {
        var requests = 0
        var unchanged = 0
        var failures = 0
        var bytes = 0
        /// The largest number of requests in a second.
        var peak = 0
    }

    var cache = Traffic()
    var origin = Traffic()
    /// Responses with an expired copy.
    var staleResponses = 0
    /// The requests of the machines in each tenth of the measured time, which show how the machines spread.
    var peaks: [Int] = []
    /// The largest age of content at the end, in seconds, and the number of sources without content.
    var oldest: Double = 0
    var empty = 0
}
