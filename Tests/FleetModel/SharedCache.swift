/// The caches of norris.conf.template, and the upstream behind them. Times are milliseconds.
struct SharedCache {
    struct Copy {
        var version: Int
        /// The time when the upstream sent or confirmed the version.
        var date: Int
        var expires: Int
    }

    /// A response to a machine.
    struct Response {
        /// The time when the response has arrived.
        var time: Int
        /// nil for an error.
        var copy: Copy?
        var isUnchanged = false
        var isExpired = false
    }

    /// The time between two permitted requests for a document to the upstream, and the requests permitted beyond that:
    /// `limit_req` of norris.conf.template.
    private static let requestInterval = 10_000
    private static let burst = 1
    /// The time for which an error is stored.
    private static let errorLifetime = 10_000

    private let scenario: Scenario
    private var copies: [Copy?]
    /// The time when the current request for a document ends; others wait for it, or get the expired copy.
    private var pending: [Int]
    /// The end of the last stored error.
    private var errorEnds: [Int]
    /// The excess of requests of the leaky bucket, in milliseconds, and the time of the last request.
    private var excess: [Int]
    private var lastRequest: [Int?]
    private(set) var cache = Meter()
    private(set) var origin = Meter()
    private(set) var staleResponses = 0

    init(_ scenario: Scenario) {
        self.scenario = scenario
        let count = scenario.documents.count
        copies = Array(repeating: nil, count: count)
        pending = Array(repeating: .min, count: count)
        errorEnds = Array(repeating: .min, count: count)
        excess = Array(repeating: 0, count: count)
        lastRequest = Array(repeating: nil, count: count)
    }

    /// Answers the request of a machine for a document, whose version it has or not.
    mutating func request(_ index: Int, version: Int?, at time: Int) -> Response {
        let document = scenario.documents[index]
        var response = answer(index, at: time)
        if let copy = response.copy, copy.version == version { response.isUnchanged = true }
        guard time >= milliseconds(scenario.measuredFrom) else { return response }
        if response.isExpired { staleResponses += scenario.weight }
        let hasBody = response.copy != nil && !response.isUnchanged
        cache.count(
            at: time, bytes: hasBody ? document.cacheBytes : scenario.unchangedCacheBytes,
            isUnchanged: response.isUnchanged, isFailure: response.copy == nil, weight: scenario.weight)
        return response
    }

    private mutating func answer(_ index: Int, at time: Int) -> Response {
        let latency = milliseconds(scenario.cacheLatency)
        if let copy = copies[index], time < copy.expires {
            // The copy may be on its way still; the machine then waits for the same response.
            return Response(time: max(time, pending[index]) + latency, copy: copy)
        }
        if time < pending[index] || time < errorEnds[index] && copies[index] == nil {
            return Response(time: time + latency, copy: copies[index], isExpired: true)
        }
        guard isPermitted(index, at: time) else {
            return Response(time: time + latency, copy: copies[index], isExpired: true)
        }
        let end = time + milliseconds(scenario.originLatency)
        pending[index] = end
        guard fetch(index, at: time, end: end) else {
            errorEnds[index] = end + Self.errorLifetime
            return Response(time: end + latency, copy: copies[index], isExpired: true)
        }
        return Response(time: end + latency, copy: copies[index])
    }

    /// Requests a document from the upstream. Returns false if the upstream fails.
    private mutating func fetch(_ index: Int, at time: Int, end: Int) -> Bool {
        let document = scenario.documents[index]
        let version = document.changesEvery > 0 ? time / milliseconds(document.changesEvery) : 0
        let fails = scenario.outages.contains {
            (milliseconds($0.begin)..<milliseconds($0.end)).contains(time)
        }
        let isUnchanged = !fails && copies[index]?.version == version
        if time >= milliseconds(scenario.measuredFrom) {
            let bytes = fails || isUnchanged ? scenario.unchangedOriginBytes : document.originBytes
            origin.count(at: time, bytes: bytes, isUnchanged: isUnchanged, isFailure: fails, weight: 1)
        }
        if fails { return false }
        // nginx counts whole seconds, and a copy expires after the last one.
        let expires = (end / 1000 + Int(document.lifetime) + 1) * 1000
        copies[index] = Copy(version: version, date: time, expires: expires)
        return true
    }

    private mutating func isPermitted(_ index: Int, at time: Int) -> Bool {
        let passed = lastRequest[index].map { time - $0 } ?? .max / 2
        let excess = max(0, self.excess[index] - passed + Self.requestInterval)
        let first = lastRequest[index] == nil
        if !first, excess > Self.burst * Self.requestInterval { return false }
        self.excess[index] = first ? 0 : excess
        lastRequest[index] = time
        return true
    }
}

/// Counts requests and bytes, in total and for each second.
struct Meter {
    private(set) var traffic = Report.Traffic()
    private(set) var seconds: [Int] = []

    mutating func count(at time: Int, bytes: Int, isUnchanged: Bool, isFailure: Bool, weight: Int) {
        traffic.requests += weight
        traffic.bytes += weight * bytes
        if isUnchanged { traffic.unchanged += weight }
        if isFailure { traffic.failures += weight }
        let second = time / 1000
        if seconds.count <= second { seconds += Array(repeating: 0, count: second + 1 - seconds.count) }
        seconds[second] += weight
        traffic.peak = max(traffic.peak, seconds[second])
    }
}

func milliseconds(_ seconds: Double) -> Int { Int((seconds * 1000).rounded()) }
