import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

@Suite(.onTestThread, .timeLimit(.minutes(20))) struct FaultEndToEndTests {
    /// A fault and its `freshness.error` kind. The name is the key under `posts.sources` and the start of the path.
    private static let cases: [(name: String, kind: SourceFailure.Kind, fault: FakeUpstream.Fault)] = [
        ("reset", .offline, .reset), ("cut-off", .offline, .truncated(chunked: true)), ("hanging", .timeout, .hang),
        ("dripping", .timeout, .drip(every: .milliseconds(200))), ("endless", .decode, .endless),
        ("gzip-bomb", .decode, .gzipBomb), ("too-many-requests", .http, .status(429, retryAfter: "2")),
        ("unavailable", .http, .status(503, retryAfter: "1")), ("garbage", .decode, .garbage),
        ("half-a-document", .decode, .json(#"{"data":[{"uid":"u"#)), ("redirect-loop", .http, .redirectLoop),
    ]

    private let held: Set = ["too-many-requests", "unavailable"]

    /// Returns a valid answer of an upstream.
    private static func users(posts: Int) -> [UInt8] {
        let posts = (1...posts).map { #"{"id":\#($0),"pics":["https://h.example/\#($0).png"]}"# }
        return Array(#"{"data":[{"uid":"u","name":"U","posts":[\#(posts.joined(separator: ","))]}]}"#.utf8)
    }

    @Test("One source for each fault: all fail as they should, hold up no other, and mend by themselves")
    func everyFault() async throws {
        let upstream = try await FakeUpstream.start()
        let wellBehaved = "well-behaved"
        let names = Self.cases.map(\.name)
        func serve(posts: Int) {
            for name in names + [wellBehaved] {
                let body = Self.users(posts: posts)
                upstream.setDocument("/\(name)/users/posts", contentType: "application/json", body: body)
            }
        }
        serve(posts: 1)
        let sources = (names + [wellBehaved]).map { name in
            // A host that asks for a pause holds up its other sources.
            let base = held.contains(name) ? upstream.baseURL(host: "localhost") : upstream.baseURL
            return "    \(name): {kind: users-posts, url: '\(base)/\(name)', refresh: 1s}\n"
        }
        do {
            let daemon = try RunningDaemon(
                configuration: """
                    http: {timeout: 4s, max_body: 256KiB, host_gap: 0s}
                    facts: {enabled: false}
                    posts:
                      sources:
                    \(sources.joined())
                    """)
            let watch = try daemon.watch()
            for name in names { try daemon.waitUntilFetched(watch, name) }

            // The faults first, because a 304 has no body.
            for fault in Self.cases { upstream.setFault(fault.fault, path: "/\(fault.name)/users/posts") }
            serve(posts: 2)
            var missing = Dictionary(uniqueKeysWithValues: Self.cases.map { ($0.name, $0.kind) })
            var wrong: [String: Int] = [:]
            while !missing.isEmpty {
                let event = try watch.wait(for: .failed)
                guard let name = event.source, let kind = missing[name] else { continue }
                if event.error?.kind != kind {
                    // A busy machine may cause other failures, so four of them are ignored.
                    wrong[name, default: 0] += 1
                    if wrong[name, default: 0] < 5 { continue }
                    Issue.record("\(name) fails with \(event.error as Any)")
                }
                missing[name] = nil
            }
            #expect(try daemon.ctl("fact").status == 0)
            for name in names {
                let source = try daemon.source(name)
                #expect(source.items == 1 && source.freshness.fetchedAt != nil, "\(name)")
                #expect(source.consecutiveFailures >= 1, "\(name)")
            }
            try wait(watch) { try daemon.source(wellBehaved).items == 2 }
            #expect(try daemon.source(wellBehaved).freshness.error == nil)

            for name in names { upstream.setFault(nil, path: "/\(name)/users/posts") }
            for name in names {
                try wait(watch) { try daemon.source(name).items == 2 && daemon.source(name).freshness.error == nil }
            }
            _ = try daemon.log(of: "source.recovered", atLeast: names.count)
        }
        await upstream.stop()
    }

    /// Checks the condition again after each fetch.
    private func wait(_ watch: LineClient, until condition: () throws -> Bool) throws {
        while try !condition() { try watch.wait(for: .finished) }
    }
}
