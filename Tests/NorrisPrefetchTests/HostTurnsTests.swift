import NorrisFetchProtocol
import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

@testable import NorrisPrefetch

struct HostTurnsTests {
    private static let start = Timestamp(seconds: 1_000_000)
    private static let day = Duration.seconds(86_400)
    private var hosts = HostTurns()

    private static func at(_ seconds: Int) -> Timestamp { start.advanced(by: .seconds(seconds)) }

    /// Notes a reply of `h`, and returns the seconds from then to the end of the hold; nil without one.
    private mutating func held(_ status: Int, limit: Bool = true, pause: Int? = nil, at seconds: Int = 0) -> Int? {
        let now = Self.at(seconds)
        _ = hosts.note(HostReply(host: "h", status: status, isLimit: limit, pause: pause), to: "h", now)
        let until = end(of: "h") ?? now
        return until > now ? Int(until.seconds - now.seconds) : nil
    }

    private func end(of host: String?, answeredBy target: String? = nil) -> Timestamp? {
        hosts.hold(of: host, answeredBy: target)?.record.retryAt
    }

    // MARK: Holds

    @Test("A refusal that states no pause holds for a minute, doubled up to an hour") mutating func doubling() {
        var time = 0
        for expected in [60, 120, 240, 480, 960, 1920, 3600, 3600] {
            #expect(held(429, at: time) == expected)
            time += expected
        }
        // The host answers, and begins again.
        #expect(held(200, limit: false, at: time) == nil)
        #expect(held(429, at: time) == 60)
    }

    @Test("Several replies within one hold double it once") mutating func repliesAtOneTime() {
        for _ in 0..<4 { #expect(held(429) == 60) }
        #expect(held(429, at: 60) == 120)
    }

    @Test mutating func aStatedPauseHoldsForADayAtMostAndIsNeverShortened() {
        #expect(held(503, pause: 999_999_999) == 86_400)
        #expect(held(429, pause: 5, at: 10) == 86_390)
        #expect(held(200, limit: false, at: 20) == 86_380)
    }

    @Test("A success without remaining requests holds until the reset, else for a minute") mutating func noneLeft() {
        #expect(held(200, pause: 30) == 30)
        #expect(hosts.holds["h"]?.failure?.message == "no requests left")
        for time in [30, 90, 150] { #expect(held(304, at: time) == 60) }
    }

    @Test("A 403 within a day after a 429 counts as one", arguments: [86_399, 86_400])
    mutating func forbidden(after seconds: Int) {
        #expect(held(403, limit: false) == nil)
        #expect(held(503, pause: 1) == 1)
        #expect(held(403, limit: false, at: 1) == nil, "503 is no 429")
        #expect(held(429, pause: 1, at: 2) == 1)
        #expect(held(200, limit: false, at: 3) == nil)
        #expect(held(403, limit: false, at: 2 + seconds) == (seconds < 86_400 ? 60 : nil))
        // Which extends the day.
        #expect(held(403, limit: false, at: 100 + seconds) == (seconds < 86_400 ? 120 : nil))
        #expect(held(500, limit: false, at: 900 + seconds) == nil && held(404, limit: false, at: 900 + seconds) == nil)
    }

    @Test mutating func aHoldIsForgottenADayAfterItsEnd() {
        for number in 0..<100 {
            let reply = HostReply(host: "\(number)", status: 429, isLimit: true, pause: 10)
            _ = hosts.note(reply, to: "h", Self.at(number * 3600))
        }
        #expect(hosts.holds.count == 25 && hosts.holds["99"] != nil)
    }

    @Test mutating func aHoldIsTheHostsThatAnswered() {
        let reply = HostReply(host: "www", status: 429, isLimit: true, pause: 600)
        #expect(hosts.note(reply, to: "h", Self.start) == true)
        #expect(end(of: "www") != nil && end(of: "other", answeredBy: "www") != nil)
        // A source of `h` whose redirect is not known yet is taken for one of the same kind.
        #expect(end(of: "h") != nil && end(of: "h", answeredBy: "h") == nil)
        #expect(end(of: "other") == nil && end(of: nil, answeredBy: "www") == nil)
    }

    @Test("A clock that is set back keeps the length of a hold", arguments: [1, 900, 365 * 86_400])
    mutating func clockSetBack(seconds: Int) {
        #expect(held(429, pause: 600) == 600)
        let back = Self.at(-seconds)
        hosts.noticeClock(back)
        #expect(end(of: "h") == back.advanced(by: .seconds(600)))
        hosts.noticeClock(back.advanced(by: .seconds(700)))
        #expect(end(of: "h") == back.advanced(by: .seconds(600)))
    }

    @Test mutating func aClockSetForwardForAMomentEndsNoHold() {
        #expect(held(429, pause: 600) == 600)
        for time in [3_600, 60] { hosts.noticeClock(Self.at(time)) }
        #expect(end(of: "h") == Self.at(600))
    }

    // MARK: Turns

    @Test mutating func aGapFollowsTheEndOfAFetch() {
        hosts.gap = .seconds(2)
        #expect(hosts.gapLeft("h", .zero) == .zero)
        hosts.end("h", .seconds(10))
        #expect(hosts.gapLeft("h", .milliseconds(10_500)) == .milliseconds(1_500))
        #expect(hosts.gapLeft("h", .seconds(12)) == .zero && hosts.gapLeft("other", .seconds(11)) == .zero)
    }
}

/// Runs a planner against fake hosts, from one event to the next, with time as the only fake.
private struct Simulation {
    typealias Source = (name: String, host: String?)

    static let start = Timestamp(seconds: 1_000_000)
    var planner = Planner(jitter: Jitter(machine: "m"), generator: SeededRandom(seed: 1))
    var elapsed = Duration.zero
    private var ends: [String: Duration] = [:]
    private let hosts: [String: String]
    private(set) var begins: [(source: String, at: Duration)] = []

    init(_ sources: [Source], refresh: Duration, histories: [String: SourceSchedule.History] = [:]) {
        hosts = Dictionary(uniqueKeysWithValues: sources.compactMap { source in source.host.map { (source.name, $0) } })
        planner.hosts.gap = .seconds(2)
        planner.configure(
            sources.map { ($0.name, SourcePolicy(isEnabled: true, refresh: refresh, settings: "a", host: $0.host)) },
            histories: histories, now: Self.start)
    }

    var now: Timestamp { Self.start.advanced(by: elapsed) }

    /// Runs until a time, or until nothing is due.
    ///
    /// - Parameter answer: the reply to a fetch that begins now.
    mutating func run(
        until end: Duration, lasting time: Duration = .milliseconds(500),
        _ answer: (_ source: String, _ elapsed: Duration) -> HostReply
    ) {
        var replies: [String: HostReply] = [:]
        while elapsed < end {
            for (name, _) in ends.filter({ $0.value <= elapsed }) {
                ends[name] = nil
                var outcome = FetchOutcome.fetched(added: 0)
                if let host = hosts[name], let reply = replies[name] {
                    planner.hosts.end(host, elapsed)
                    let isRefusal = planner.note(reply, to: name, at: host, now)
                    if !reply.isSuccess {
                        outcome = .failed(
                            FetchFailure(kind: .http, message: "no", isRetryable: isRefusal, reply: reply))
                    }
                }
                planner.finish(name, outcome, now: now)
            }
            for (name, _) in planner.begin(now, elapsed) {
                begins.append((name, elapsed))
                ends[name] = elapsed + time
                guard let host = hosts[name] else { continue }
                #expect(planner.refusal(of: name, at: host, now) == nil)
                replies[name] = answer(name, elapsed)
            }
            let next = planner.pause(now).map { elapsed + $0 }
            guard let time = (ends.map(\.value) + [next].compactMap(\.self)).min() else { return }
            elapsed = max(time, elapsed)
        }
    }

    /// The largest number of times within a span, of those that the keys distinguish.
    static func most(of times: [Duration], within span: Duration) -> Int {
        times.indices.map { first in times[first...].prefix { $0 < times[first] + span }.count }.max() ?? 0
    }
}

struct HostSimulationTests {
    /// Allows a request a minute, says that it allows the next one earlier or not, and bans a client that asks on for a
    /// day.
    private struct StrictHost {
        let reset: Int?
        var allowedAt = Duration.zero
        var refusals = 0
        var isBanned = false

        mutating func answer(_ time: Duration) -> HostReply {
            if time >= allowedAt, !isBanned {
                (allowedAt, refusals) = (time + .seconds(60), 0)
                return HostReply(host: "reddit", status: 200, isLimit: true, pause: reset)
            }
            refusals += 1
            isBanned = isBanned || refusals > 3
            let isFirst = refusals == 1
            return HostReply(
                host: "reddit", status: isFirst ? 429 : 403, isLimit: isFirst, pause: isFirst ? reset : nil)
        }
    }

    @Test("A day of 30 feeds of a host that allows one request a minute", arguments: [30, 60, nil])
    func strictHost(reset: Int?) {
        let names = (0..<30).map { "r\($0)" }
        var simulation = Simulation(names.map { ($0, "reddit") }, refresh: .seconds(1800))
        var host = StrictHost(reset: reset)
        var fetched: [String: Int] = [:]
        var refused = 0
        simulation.run(until: .seconds(86_400)) { name, time in
            let reply = host.answer(time)
            if reply.isSuccess { fetched[name, default: 0] += 1 } else { refused += 1 }
            return reply
        }
        let times = simulation.begins.map(\.at)
        let most = Simulation.most(of: times, within: .seconds(60))
        #expect(!host.isBanned && most <= (reset == 30 ? 2 : 1))
        #expect(reset == 30 ? refused * 2 <= times.count : refused == 0)
        #expect(fetched.count == 30 && (fetched.values.min() ?? 0) >= 40)
    }

    @Test func afterAWeekOffline() {
        // 400 hosts with 1,000 sources: one has 100, most have one.
        let sizes =
            [100] + Array(repeating: 20, count: 9) + Array(repeating: 5, count: 60)
            + Array(repeating: 2, count: 90) + Array(repeating: 1, count: 240)
        var sources = sizes.enumerated().flatMap { host, count in
            (0..<count).map { (name: "s\(host).\($0)", host: "h\(host)" as String?) }
        }
        var random = SeededRandom(seed: 7)
        sources.shuffle(using: &random)
        var histories: [String: SourceSchedule.History] = [:]
        for (index, source) in sources.enumerated() {
            let time = Simulation.start.advanced(by: .seconds(index - 7 * 86_400))
            histories[source.name] = .init(
                record: ScheduleRecord(lastRunAt: time), content: .init(settings: "a", fetchedAt: time))
        }
        var simulation = Simulation(sources, refresh: .seconds(86_400), histories: histories)
        simulation.run(until: .seconds(3600)) { name, _ in
            HostReply(host: String(name.dropFirst().prefix { $0 != "." }), status: 200)
        }
        let begins = simulation.begins
        #expect(Set(begins.map(\.source)).count == 1000 && begins.count == 1000)
        let byHost = Dictionary(grouping: begins) { $0.source.prefix { $0 != "." } }
        let most = byHost.values.map { Simulation.most(of: $0.map(\.at), within: .seconds(10)) }.max() ?? 0
        let last = begins.last?.at ?? .zero
        #expect(most <= 4 && last < .seconds(300))
        // Sources of one host come in the order of their age.
        let ages = Dictionary(uniqueKeysWithValues: sources.enumerated().map { ($1.name, $0) })
        for begins in byHost.values {
            let order = begins.compactMap { ages[$0.source] }
            #expect(order == order.sorted())
        }
        #expect(begins.prefix(3).map(\.source) == sources.prefix(3).map(\.name))
    }

    @Test("A path that is refused for ever holds its siblings for minutes, and a host that refuses all is left alone")
    func refusedForEver() {
        let names = (0..<10).map { "s\($0)" }
        for isWhole in [false, true] {
            var simulation = Simulation(names.map { ($0, "cdn") }, refresh: .seconds(1800))
            simulation.run(until: .seconds(86_400)) { name, _ in
                let isRefused = isWhole || name == "s0"
                return HostReply(host: "cdn", status: isRefused ? 429 : 200, isLimit: isRefused)
            }
            let counts = names.map { name in simulation.begins.count { $0.source == name } }
            if isWhole {
                // One request an hour.
                #expect(simulation.begins.count <= 32)
            } else {
                #expect(counts.dropFirst().allSatisfy { $0 >= 40 }, "\(counts)")
            }
            let overdue = names.filter { simulation.planner.schedules[$0]?.isOverdue(simulation.now) == true }
            #expect(overdue == [])
        }
    }

    @Test("After a restart, a source whose redirects lead to a held host waits", arguments: ["www", nil])
    func restart(target: String?) {
        var planner = Planner(jitter: Jitter(machine: "m"))
        planner.hosts.holds["www"] = ScheduleRecord(retryAt: Simulation.start.advanced(by: .seconds(600)))
        let policy = SourcePolicy(isEnabled: true, refresh: .seconds(1800), settings: "a", host: "short")
        planner.configure([("a", policy)], histories: ["a": .init(target: target)], now: Simulation.start)
        #expect(planner.begin(Simulation.start, .zero).isEmpty == (target != nil))
    }

    @Test func sourcesWithoutHostTakeNoTurns() {
        let sources: [Simulation.Source] = [("exec1", nil), ("exec2", nil), ("a", "h"), ("b", "h")]
        var simulation = Simulation(sources, refresh: .seconds(1800))
        simulation.run(until: .seconds(60), lasting: .seconds(10)) { _, _ in
            HostReply(host: "h", status: 429, isLimit: true, pause: 600)
        }
        #expect(Set(simulation.begins.prefix(3).map(\.source)) == ["exec1", "exec2", "a"])
        #expect(simulation.begins.count == 3)
    }

    @Test("A redirect to a held host is not followed again by any source that is known to lead there")
    func redirectToAHeldHost() {
        let sources: [Simulation.Source] = [("a", "short"), ("b", "short"), ("c", "other"), ("www", "www")]
        var simulation = Simulation(sources, refresh: .seconds(60))
        simulation.run(until: .seconds(3600)) { name, _ in
            name == "c"
                ? HostReply(host: "other", status: 200)
                : HostReply(host: "www", status: 429, isLimit: true, pause: 7200)
        }
        let counts = ["a", "b", "www"].map { name in simulation.begins.count { $0.source == name } }
        // Two begin at once, as two hosts; the hold stops the third.
        #expect(counts.reduce(0, +) <= 2 && simulation.begins.count { $0.source == "c" } > 40, "\(counts)")
        #expect(simulation.planner.heldHosts(simulation.now).map(\.sources) == [3])
    }
}
