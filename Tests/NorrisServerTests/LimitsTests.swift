import Foundation
import NorrisProtocol
import Testing

@testable import NorrisServer

struct LimitsTests {
    private static let (limits, tuning) = (Server.Limits(), Server.Tuning.standard)

    @Test(
        "PROTOCOL.md has the limits of the server",
        arguments: [
            "\(LineSplitter.maximumRequest / 1000),\(LineSplitter.maximumRequest % 1000) bytes",
            "an array of 1 to \(Limit.batch) requests",
            "do not fit into \(Limit.reply >> 20) MiB",
            "| connections | \(limits.connections), the last \(Limit.reserved) for administrators",
            "| connections of a user | \(limits.connectionsPerUser), except administrators",
            "for the disk | \(Limit.workPerUser) of a user (\(Limit.diskWorkBesideOthers) while others wait), "
                + "\(Limit.work) in all |",
            "for a network | \(Limit.workPerUser) of a user, \(Limit.work) in all |",
            "| unread replies | \(Limit.reply >> 20) MiB of a connection, \(tuning.replies >> 20) MiB in all; "
                + "\(tuning.stallTimeout.components.seconds) s |",
            "| unanswered input | \(tuning.input >> 20) MiB of a user, divided by the number of users with input |",
            "| silence | \(tuning.idleTimeout.components.seconds / 60) minutes,",
        ])
    func areInTheDocument(_ text: String) throws {
        let file = URL(filePath: #filePath).appending(path: "../../../PROTOCOL.md").standardized
        #expect(try String(contentsOf: file, encoding: .utf8).contains(text))
    }

    @Test func aStopTakesTwoSeconds() {
        #expect(Self.tuning.drainTime < Self.tuning.networkDrainTime && Self.tuning.networkDrainTime == .seconds(2))
    }
}
