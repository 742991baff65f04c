import Foundation
import NorrisProtocol
import NorrisThreads
import Testing

@testable import NorrisServer

struct LimitsTests {
    private static let (limits, tuning, ledger) = (Server.Limits(), Server.Tuning.contract, MemoryLedger.shared)

    @Test(
        "PROTOCOL.md has the limits of the server",
        arguments: [
            "| request line | \(LineSplitter.maximumRequest / 1000),\(LineSplitter.maximumRequest % 1000) bytes |",
            "| batch | \(Limit.batch) requests, \(Limit.reply >> 20) MiB of reply |",
            "| connections | \(limits.connections) (`limits.connections`), the last \(Limit.reserved) for",
            "| connections of one user | \(limits.connectionsPerUser) (`limits.connections_per_user`),",
            "| connections that are not yet accepted | \(Limit.backlog), or",
            "| lines of one turn | \(Limit.turnLines), or about \(Limit.turnTime / 1_000_000) millisecond |",
            "| requests that wait for the disk and run | \(Limit.workPerUser) of one user, \(Limit.work) in all |",
            "| requests that wait for an upstream and run | \(Limit.workPerUser) of one user, \(Limit.work) in all,",
            "stores at most \(Limit.reply >> 20) MiB of replies, and closes the connection after "
                + "\(tuning.stallTimeout.components.seconds) seconds |",
            "| \(ledger.limit(of: .replies) >> 20) MiB, in which each request that waits for the disk or an upstream "
                + "and runs counts with \(Limit.workReserve >> 20) MiB |",
            "| \(tuning.inputShare >> 20) MiB of one user, \(ledger.limit(of: .input) >> 20) MiB in all |",
            "| a peer that does not write | \(tuning.idleTimeout.components.seconds / 60) minutes,",
        ])
    func areInTheDocument(_ text: String) throws {
        let file = URL(filePath: #filePath).appending(path: "../../../PROTOCOL.md").standardized
        #expect(try String(contentsOf: file, encoding: .utf8).contains(text))
    }

    @Test func aStopTakesTwoSeconds() {
        #expect(Self.tuning.drainTime < Self.tuning.networkDrainTime && Self.tuning.networkDrainTime == .seconds(2))
    }
}
