import NorrisProtocol
import Testing

@testable import NorrisServer

/// Tests of the decisions about a connection, without a socket.
struct ConnectionTests {
    private func connection(receiving text: String = "") -> Driver {
        let driver = Driver()
        driver.receive(text)
        return driver
    }

    @Test func anIdleConnectionExpiresAfterFiveMinutes() {
        let connection = connection()
        #expect(!connection.hasExpired(after: .seconds(299)))
        #expect(connection.hasExpired(after: .seconds(300)))
        connection.receive("{", after: .seconds(200))
        #expect(!connection.hasExpired(after: .seconds(499)))
        #expect(connection.hasExpired(after: .seconds(500)))
    }

    @Test func anAwaitedAnswerIsNotIdle() {
        let connection = connection(receiving: "slow\n")
        #expect(connection.answerNext(waiting: true) == "slow")
        #expect(!connection.hasExpired(after: .seconds(3600)))
        connection.answerArrived(after: .seconds(3600))
        #expect(!connection.hasExpired(after: .seconds(3899)))
        #expect(connection.hasExpired(after: .seconds(3900)))
    }

    @Test func aSubscriberIsNeverIdleUntilItEndsThat() {
        let connection = connection()
        #expect(!connection.hasExpired(after: .seconds(1_000_000), isSubscriber: true))
        #expect(connection.hasExpired(after: .seconds(1_000_000)))
    }

    @Test(arguments: [false, true]) func aPeerThatTakesNothingExpiresAfterThirtySeconds(isSubscriber: Bool) {
        let connection = connection()
        connection.wrote(1000)
        #expect(connection.stalledSince == nil)
        #expect(!connection.hasExpired(after: .seconds(1), isSubscriber: isSubscriber, unsent: 800))
        #expect(connection.stalledSince == .seconds(1))
        #expect(!connection.hasExpired(after: .seconds(30), isSubscriber: isSubscriber, unsent: 800))
        #expect(connection.hasExpired(after: .seconds(31), isSubscriber: isSubscriber, unsent: 800))
    }

    @Test("More replies to a peer that takes nothing do not count as progress") func writingIsNoProgress() {
        let connection = connection()
        connection.wrote(1000)
        #expect(!connection.hasExpired(after: .seconds(0), unsent: 800))
        connection.wrote(500)
        #expect(!connection.hasExpired(after: .seconds(20), unsent: 1300))
        #expect(connection.hasExpired(after: .seconds(30), unsent: 1300))
    }

    @Test("A peer that takes one reply while the next is written makes progress, though as much is unsent as before")
    func steadyBacklogIsProgress() {
        let connection = connection()
        connection.wrote(1000)
        for second in 0..<100 {
            #expect(!connection.hasExpired(after: .seconds(second), unsent: 1000))
            connection.wrote(1000)
        }
    }

    @Test("A peer that reads what the kernel holds makes progress before the kernel takes more")
    func readingFromTheKernelIsProgress() {
        let connection = connection()
        connection.wrote(1000)
        for second in 0..<100 {
            #expect(!connection.hasExpired(after: .seconds(second), unsent: 500, queued: 200_000 - second))
        }
        #expect(!connection.hasExpired(after: .seconds(128), unsent: 500, queued: 199_901))
        #expect(connection.hasExpired(after: .seconds(129), unsent: 500, queued: 199_901))
    }

    @Test func idlingBeginsWhenALongReplyHasBeenTaken() {
        let connection = connection()
        connection.wrote(1000)
        for second in 0...600 { #expect(!connection.hasExpired(after: .seconds(second), unsent: 1000 - second)) }
        #expect(!connection.hasExpired(after: .seconds(601)))
        #expect(connection.stalledSince == nil)
        #expect(!connection.hasExpired(after: .seconds(900)))
        #expect(connection.hasExpired(after: .seconds(901)))
    }
}

/// A reference to a connection, because `#expect` allows no mutating calls. Times are relative to its start.
private final class Driver {
    private var connection = Connection(
        id: ConnectionID(descriptor: -1, generation: 0), caller: .nobody, user: 0, now: 0)
    private var written = 0

    var stalledSince: Duration? { connection.stalledSince.map { .nanoseconds($0) } }

    func receive(_ text: String, after time: Duration = .zero) {
        Array(text.utf8).withUnsafeBytes { connection.received($0, now: time.nanoseconds) }
    }

    func answerArrived(after time: Duration = .zero) {
        connection.answered(rest: nil, now: time.nanoseconds)
    }

    func wrote(_ count: Int) { written += count }

    /// Answers the next line and returns it, or returns nil if the next action is not an answer.
    func answerNext(waiting: Bool = false) -> String? {
        guard case .answer(let line) = connection.next() else { return nil }
        if waiting { connection.answered(rest: UnfinishedLine(line), now: 0) }
        return String(decoding: line, as: UTF8.self)
    }

    func hasExpired(after time: Duration, isSubscriber: Bool = false, unsent: Int = 0, queued: Int = 0) -> Bool {
        connection.caller.subscription.set(isSubscriber ? [.source] : [])
        connection.unsent = Array(repeating: 0, count: unsent)
        connection.accepted = written - unsent
        return connection.hasExpired(now: time.nanoseconds, queuedBytes: queued)
    }
}
