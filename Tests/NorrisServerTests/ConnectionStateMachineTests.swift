import NorrisProtocol
import Testing

@testable import NorrisServer

struct ConnectionStateMachineTests {
    private func machine(receiving text: String = "") -> Driver {
        let driver = Driver()
        driver.receive(text)
        return driver
    }

    // MARK: Order

    @Test func answersLinesInTheirOrder() {
        let machine = machine(receiving: "one\ntwo\r\nthr")
        #expect(machine.answerNext() == "one")
        #expect(machine.answerNext() == "two")
        #expect(machine.next() == .read)
        machine.receive("ee\n")
        #expect(machine.answerNext() == "three")
        #expect(machine.next() == .read)
    }

    @Test func answersOneLineAtATime() {
        let machine = machine(receiving: "slow\nnext\n")
        #expect(machine.answerNext(waiting: true) == "slow")
        #expect(machine.next() == .wait)
        #expect(!machine.wantsInput)
        machine.receive("more\n")
        #expect(machine.next() == .wait)
        machine.answerArrived()
        #expect(machine.answerNext() == "next")
        #expect(machine.answerNext() == "more")
        #expect(machine.wantsInput)
    }

    @Test func refusesALongLineInItsTurn() {
        let long = String(repeating: "x", count: LineSplitter.maximumRequest + 1)
        let machine = machine(receiving: "before\n\(long)\nafter\n")
        #expect(machine.answerNext() == "before")
        #expect(machine.next() == .refuseLongLine)
        machine.answered()
        #expect(machine.answerNext() == "after")
        #expect(machine.next() == .read)
    }

    @Test func doesNotReadOrAnswerForAPeerThatTakesNothing() {
        let machine = machine(receiving: "one\ntwo\n")
        #expect(machine.answerNext() == "one")
        machine.writabilityChanged(false)
        #expect(machine.next() == .wait)
        #expect(!machine.wantsInput)
        machine.writabilityChanged(true)
        #expect(machine.answerNext() == "two")
        #expect(machine.next() == .read)
    }

    // MARK: End of input

    @Test(arguments: ["one\ntwo", "one\ntwo\n", "one\r\ntwo\r"]) func answersAllAtTheEndOfInput(_ text: String) {
        let machine = machine(receiving: text)
        machine.inputEnded()
        #expect(!machine.wantsInput)
        #expect(machine.answerNext() == "one")
        #expect(machine.answerNext() == "two")
        #expect(machine.next() == .close)
        #expect(machine.next() == .close)
    }

    @Test("Closes only after the answer, and when the peer has taken it", arguments: [false, true])
    func closesAfterTheAnswer(isDraining: Bool) {
        let machine = machine(receiving: "one\ntwo\n")
        #expect(machine.answerNext(waiting: true) == "one")
        if isDraining { machine.drain(unread: 0) } else { machine.inputEnded() }
        #expect(machine.next() == .wait)
        machine.answerArrived()
        machine.writabilityChanged(false)
        #expect(machine.next() == .wait)
        machine.writabilityChanged(true)
        #expect(machine.answerNext() == "two")
        #expect(machine.next() == .close)
    }

    // MARK: Draining

    @Test func drainingAnswersWhatHasComeAndDropsAnIncompleteLine() {
        let machine = machine(receiving: "one\ntwo\nthr")
        machine.drain(unread: 0)
        #expect(machine.answerNext() == "one")
        #expect(machine.answerNext() == "two")
        #expect(machine.next() == .close)
        #expect(!machine.wantsInput)
    }

    @Test func drainingReadsWhatHadComeAlready() {
        let machine = machine(receiving: "one\ntw")
        machine.drain(unread: 8)
        #expect(machine.answerNext() == "one")
        #expect(machine.next() == .read)
        #expect(machine.wantsInput)
        machine.receive("o\nthr")
        #expect(machine.answerNext() == "two")
        #expect(machine.next() == .read)
        machine.receive("ee\nfour\nfi")
        #expect(machine.answerNext() == "three")
        #expect(machine.answerNext() == "four")
        #expect(machine.next() == .close)
    }

    @Test("A peer that ends its input while the daemon drains loses no answer") func inputEndsWhileDraining() {
        let machine = machine(receiving: "one\ntwo\nthree")
        #expect(machine.answerNext(waiting: true) == "one")
        machine.drain(unread: 0)
        machine.inputEnded()
        #expect(machine.next() == .wait)
        machine.answerArrived()
        #expect(machine.answerNext() == "two")
        #expect(machine.answerNext() == "three")
        #expect(machine.next() == .close)
    }

    @Test func drainingAfterTheEndOfInputKeepsTheLastLine() {
        let machine = machine(receiving: "last")
        machine.inputEnded()
        machine.drain(unread: 0)
        #expect(machine.answerNext() == "last")
        #expect(machine.next() == .close)
    }

    @Test func nothingHappensAfterTheSocketIsGone() {
        let machine = machine(receiving: "one\n")
        machine.closed()
        #expect(machine.next() == .close)
        machine.receive("two\n")
        machine.inputEnded()
        machine.drain(unread: 10)
        machine.answerArrived()
        machine.writabilityChanged(true)
        #expect(machine.next() == .close)
        #expect(!machine.wantsInput)
    }

    // MARK: Timeouts

    @Test func anIdleConnectionExpiresAfterFiveMinutes() {
        let machine = machine()
        #expect(!machine.hasExpired(after: .seconds(299)))
        #expect(machine.hasExpired(after: .seconds(300)))
    }

    @Test func anyByteEndsIdling() {
        let machine = machine()
        machine.receive("{", after: .seconds(200))
        #expect(!machine.hasExpired(after: .seconds(499)))
        #expect(machine.hasExpired(after: .seconds(500)))
    }

    @Test func anAwaitedAnswerIsNotIdle() {
        let machine = machine(receiving: "slow\n")
        #expect(machine.answerNext(waiting: true) == "slow")
        #expect(!machine.hasExpired(after: .seconds(3600)))
        machine.answerArrived(after: .seconds(3600))
        #expect(!machine.hasExpired(after: .seconds(3899)))
        #expect(machine.hasExpired(after: .seconds(3900)))
    }

    @Test func aSubscriberIsNeverIdleUntilItEndsThat() {
        let machine = machine()
        #expect(!machine.hasExpired(after: .seconds(1_000_000), isSubscriber: true))
        #expect(machine.hasExpired(after: .seconds(1_000_000)))
    }

    @Test func eventsStandBetweenRepliesOnly() {
        let machine = machine(receiving: "slow\nnext\n")
        #expect(machine.takesEvents)
        #expect(machine.answerNext(waiting: true) == "slow")
        #expect(!machine.takesEvents)
        machine.answerArrived()
        #expect(machine.takesEvents)
        machine.writabilityChanged(false)
        #expect(!machine.takesEvents)
        machine.writabilityChanged(true)
        #expect(machine.answerNext() == "next")
        // A subscriber that ends its input, or is drained, still receives earlier events before the close.
        machine.inputEnded()
        #expect(machine.takesEvents)
        #expect(machine.next() == .close)
        #expect(!machine.takesEvents)
    }

    @Test(arguments: [false, true]) func aPeerThatTakesNothingExpiresAfterThirtySeconds(isSubscriber: Bool) {
        let machine = machine()
        machine.wrote(1000)
        #expect(machine.stalledSince == nil)
        #expect(!machine.hasExpired(after: .seconds(1), isSubscriber: isSubscriber, unsent: 800))
        #expect(machine.stalledSince == .seconds(1))
        #expect(!machine.hasExpired(after: .seconds(30), isSubscriber: isSubscriber, unsent: 800))
        #expect(machine.hasExpired(after: .seconds(31), isSubscriber: isSubscriber, unsent: 800))
    }

    @Test("More replies to a peer that takes nothing do not count as progress") func writingIsNoProgress() {
        let machine = machine()
        machine.wrote(1000)
        #expect(!machine.hasExpired(after: .seconds(0), unsent: 800))
        machine.wrote(500)
        #expect(!machine.hasExpired(after: .seconds(20), unsent: 1300))
        #expect(machine.hasExpired(after: .seconds(30), unsent: 1300))
    }

    @Test("A peer that takes one reply while the next is written makes progress, though as much is unsent as before")
    func steadyBacklogIsProgress() {
        let machine = machine()
        machine.wrote(1000)
        for second in 0..<100 {
            #expect(!machine.hasExpired(after: .seconds(second), unsent: 1000))
            machine.wrote(1000)
        }
    }

    @Test("A peer that reads what the kernel holds makes progress before the kernel takes more")
    func readingFromTheKernelIsProgress() {
        let machine = machine()
        machine.wrote(1000)
        for second in 0..<100 {
            #expect(!machine.hasExpired(after: .seconds(second), unsent: 500, queued: 200_000 - second))
        }
        #expect(!machine.hasExpired(after: .seconds(128), unsent: 500, queued: 199_901))
        #expect(machine.hasExpired(after: .seconds(129), unsent: 500, queued: 199_901))
    }

    @Test func idlingBeginsWhenALongReplyHasBeenTaken() {
        let machine = machine()
        machine.wrote(1000)
        for second in 0...600 { #expect(!machine.hasExpired(after: .seconds(second), unsent: 1000 - second)) }
        #expect(!machine.hasExpired(after: .seconds(601)))
        #expect(machine.stalledSince == nil)
        #expect(!machine.hasExpired(after: .seconds(900)))
        #expect(machine.hasExpired(after: .seconds(901)))
    }
}

/// A reference to a machine, because `#expect` allows no mutating calls. Times are relative to its start.
private final class Driver {
    private var machine = ConnectionStateMachine(now: 0)

    var wantsInput: Bool { machine.wantsInput }
    var takesEvents: Bool { machine.takesEvents }
    var stalledSince: Duration? { machine.stalledSince.map { .nanoseconds($0) } }

    func receive(_ text: String, after time: Duration = .zero) {
        Array(text.utf8).withUnsafeBytes { machine.received($0, now: time.nanoseconds) }
    }

    func next() -> ConnectionStateMachine.Action { machine.next() }
    func answered() { machine.answered(waiting: false) }
    func answerArrived(after time: Duration = .zero) { machine.answerArrived(now: time.nanoseconds) }
    func writabilityChanged(_ isWritable: Bool) { machine.writabilityChanged(isWritable) }
    func inputEnded() { machine.inputEnded() }
    func drain(unread: Int) { machine.drain(unread: unread) }
    func closed() { machine.closed() }
    func wrote(_ count: Int) { machine.wrote(count) }

    /// Answers the next line and returns it, or returns nil if the next action is not an answer.
    func answerNext(waiting: Bool = false) -> String? {
        guard case .answer(let line) = machine.next() else { return nil }
        machine.answered(waiting: waiting)
        return String(decoding: line, as: UTF8.self)
    }

    func hasExpired(after time: Duration, isSubscriber: Bool = false, unsent: Int = 0, queued: Int = 0) -> Bool {
        machine.hasExpired(now: time.nanoseconds, isSubscriber: isSubscriber, unsentBytes: unsent, queuedBytes: queued)
    }
}
