import NorrisPrefetch
import NorrisProtocol

/// Machines whose schedules are the ones of norrisd, in a discrete simulation. Times are milliseconds from the beginning.
struct Fleet {
    /// A source of a machine.
    private struct Client {
        var machine: Int32
        var source: Int32
        var schedule: SourceSchedule
        /// The versions of the documents, in the order of the source; nil before the first response.
        var versions: [Int?]
        /// The time of the last response to each document.
        var checked: [Int]
    }

    /// 2026-01-01T00:00:00Z; only differences matter.
    private static let epoch: Int64 = 1_767_225_600
    /// See `FactSource.otherQueriesAfter`.
    private static let otherDocumentsAfter = 7.0

    private let scenario: Scenario
    private var cache: SharedCache
    private var clients: [Client] = []
    /// The clients that are due in each second.
    private var due: [[Int32]]
    private var generator = SplitMix64(state: 1)

    init(_ scenario: Scenario) {
        self.scenario = scenario
        cache = SharedCache(scenario)
        due = Array(repeating: [], count: Int(scenario.duration) + 1)
        clients.reserveCapacity(scenario.machines.count * scenario.sources.count)
        for (machine, name) in scenario.machines.enumerated() {
            let jitter = Jitter(machine: name)
            let start = milliseconds(scenario.starts[machine])
            for (index, source) in scenario.sources.enumerated() {
                let policy = SourcePolicy(isEnabled: true, refresh: .seconds(source.refresh), settings: "")
                let schedule = SourceSchedule(
                    policy: policy, interval: jitter.applied(to: policy.refresh, of: source.name),
                    history: SourceSchedule.History(), now: Self.now(start))
                clients.append(
                    Client(
                        machine: Int32(machine), source: Int32(index), schedule: schedule,
                        versions: Array(repeating: nil, count: source.documents.count),
                        checked: Array(repeating: 0, count: source.documents.count)))
                wait(Int32(clients.count - 1), from: start)
            }
        }
    }

    mutating func run() {
        for second in due.indices {
            let clients = due[second]
            due[second] = []
            // norrisd reads the clock at the same fraction of each second.
            let times = clients.map { second * 1000 + phase(of: $0) }
            for index in times.indices.sorted(by: { times[$0] < times[$1] }) {
                fetch(clients[index], at: times[index])
            }
        }
    }

    private func phase(of client: Int32) -> Int {
        milliseconds(scenario.starts[Int(clients[Int(client)].machine)]) % 1000
    }

    private static func now(_ time: Int) -> Timestamp { Timestamp(seconds: epoch + Int64(time / 1000)) }

    /// Enters a client into the second of its next run.
    private mutating func wait(_ client: Int32, from time: Int) {
        guard let next = clients[Int(client)].schedule.nextRun(Self.now(time)) else { return }
        let second = max(Int(next.seconds - Self.epoch), time / 1000)
        if second < due.count { due[second].append(client) }
    }

    private mutating func fetch(_ index: Int32, at time: Int) {
        var client = clients[Int(index)]
        _ = client.schedule.start(Self.now(time), using: &generator)
        let (outcome, end) = fetch(&client, at: time)
        client.schedule.finish(outcome, now: Self.now(end), using: &generator)
        clients[Int(index)] = client
        // The run ends after this second has been simulated.
        wait(index, from: max(end, (time / 1000 + 1) * 1000))
    }

    /// The requests of a run, in the order of `FactSource` and `PostSource`.
    private mutating func fetch(_ client: inout Client, at begin: Int) -> (FetchOutcome, end: Int) {
        let source = scenario.sources[Int(client.source)]
        let isFirst = client.versions[0] == nil
        var (time, changed) = (begin, isFirst)
        var (age, isStale, notBefore) = (Duration.zero, false, Duration.zero)
        for (position, document) in source.documents.enumerated() {
            let isValidated = position < source.validated
            let interval = Double(time - client.checked[position]) / 1000
            let isDue = position == 0 || (isValidated && interval > source.refresh * Self.otherDocumentsAfter)
            guard isDue || changed else { continue }
            // After a change, the remaining documents are requested without validators.
            let version = isValidated && (position == 0 || !changed) ? client.versions[position] : nil
            let response = cache.request(document, version: version, at: time)
            time = response.time
            guard let copy = response.copy else {
                let failure = FetchFailure(kind: .http, message: "", isRetryable: true)
                return (.failed(failure), time)
            }
            changed = changed || copy.version != client.versions[position]
            (client.versions[position], client.checked[position]) = (copy.version, time)
            age = max(age, .milliseconds(time - copy.date))
            isStale = isStale || response.isExpired
            let stated = scenario.documents[document]
            if stated.statesLifetime {
                notBefore = max(notBefore, .seconds(stated.lifetime) - .milliseconds(time - copy.date))
            }
        }
        var head = FetchHead()
        (head.age, head.isStale) = (Int(age.components.seconds), isStale)
        head.notBefore = Int(notBefore.components.seconds)
        let outcome = FetchOutcome.fetched(added: changed ? 1 : 0, head)
        return (outcome, time)
    }

    var report: Report {
        var report = Report()
        report.cache = cache.cache.traffic
        report.origin = cache.origin.traffic
        report.staleResponses = cache.staleResponses
        let measured = cache.cache.seconds.dropFirst(Int(scenario.measuredFrom))
        let step = max(1, (Int(scenario.duration) - Int(scenario.measuredFrom)) / 10)
        report.peaks = stride(from: measured.startIndex, to: measured.endIndex, by: step).map { begin in
            measured[begin..<min(begin + step, measured.endIndex)].max() ?? 0
        }
        let end = Self.now(milliseconds(scenario.duration))
        for client in clients {
            guard let content = client.schedule.content else {
                report.empty += scenario.weight
                continue
            }
            report.oldest = max(report.oldest, Double(content.fetchedAt.duration(to: end).components.seconds))
        }
        return report
    }
}

/// A generator whose numbers are the same in each simulation.
///
/// Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
private struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
