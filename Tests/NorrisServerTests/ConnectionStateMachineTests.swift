import NorrisProtocol
import Testing

@testable import NorrisServer

struct ConnectionStateMachineTests {
    private let start = ContinuousClock.now

    private func machine(_ patience: ConnectionStateMachine.Patience = .init()) -> ConnectionStateMachine {
        ConnectionStateMachine(now: start, patience: patience)
    }

    private func feed(_ text: String, to machine: inout ConnectionStateMachine, after: Duration = .zero) {
        Array(text.utf8).withUnsafeBytes { machine.received($0, now: start + after) }
    }

    private func expires(_ machine: inout ConnectionStateMachine, after: Duration, unsent: Int) -> Bool {
        machine.hasExpired(now: start + after, unsentBytes: unsent)
    }

    /// Answers everything that can be answered, and gives the lines and the action that ended it.
    private func drain(_ machine: inout ConnectionStateMachine) -> (lines: [String], last: ConnectionStateMachine.Action) {
        var lines: [String] = []
        while true {
            switch machine.next() {
            case .answer(let line):
                lines.append(String(decoding: line, as: UTF8.self))
                machine.answered(waiting: false)
            case .refuseLongLine:
                lines.append("too long")
                machine.answered(waiting: false)
            case let action:
                return (lines, action)
            }
        }
    }

    @Test func linesAreAnsweredInOrderThenMoreIsRead() {
        var machine = machine()
        feed("a\nb\r\n\nc\nincompl", to: &machine)
        let (lines, last) = drain(&machine)
        #expect(lines == ["a", "b", "c"])
        #expect(last == .read)
        #expect(machine.wantsInput)
        feed("ete\n", to: &machine)
        let (rest, _) = drain(&machine)
        #expect(rest == ["incomplete"])
    }

    @Test func anAwaitedAnswerHoldsBackTheNextLine() {
        var machine = machine()
        feed("a\nb\n", to: &machine)
        #expect(machine.next() == .answer(Array("a".utf8)[...]))
        machine.answered(waiting: true)
        #expect(machine.next() == .wait)
        #expect(!machine.wantsInput)
        machine.answerArrived(now: start)
        let (rest, _) = drain(&machine)
        #expect(rest == ["b"])
    }

    @Test func aReaderThatDoesNotTakeItsRepliesIsNotReadFrom() {
        var machine = machine()
        feed("a\nb\n", to: &machine)
        machine.writabilityChanged(false)
        #expect(machine.next() == .wait)
        #expect(!machine.wantsInput)
        machine.writabilityChanged(true)
        let (rest, _) = drain(&machine)
        #expect(rest == ["a", "b"])
    }

    @Test func afterTheLastLineWithoutItsEndTheConnectionCloses() {
        var machine = machine()
        feed("a\nlast", to: &machine)
        machine.inputEnded()
        let (lines, last) = drain(&machine)
        #expect(lines == ["a", "last"])
        #expect(last == .close)
        #expect(!machine.wantsInput)
    }

    @Test func halfCloseWaitsForTheAnswerUnderWay() {
        var machine = machine()
        feed("a\n", to: &machine)
        _ = machine.next()
        machine.answered(waiting: true)
        machine.inputEnded()
        #expect(machine.next() == .wait)
        machine.answerArrived(now: start)
        #expect(machine.next() == .close)
    }

    @Test func aLongLineIsRefusedInItsPlace() {
        var machine = machine()
        feed("a\n" + String(repeating: "x", count: LineSplitter.maximumRequest + 1) + "\nb\n", to: &machine)
        let (rest, _) = drain(&machine)
        #expect(rest == ["a", "too long", "b"])
    }

    @Test func drainingAnswersWhatIsThereAndDropsHalfALine() {
        var machine = machine()
        feed("a\nb\nhalf", to: &machine)
        machine.drain()
        let (lines, last) = drain(&machine)
        #expect(lines == ["a", "b"])
        #expect(last == .probeInput)
        // The kernel still held a line.
        feed(" a line\n", to: &machine)
        let (rest, _) = drain(&machine)
        #expect(rest == ["half a line"])
        feed("rest", to: &machine)
        #expect(drain(&machine).last == .probeInput)
        machine.inputEnded()
        #expect(drain(&machine) == ([], .close))
    }

    @Test func nothingIsAnsweredAfterTheEnd() {
        var machine = machine()
        machine.closed()
        feed("a\n", to: &machine)
        #expect(machine.next() == .close)
        #expect(!machine.wantsInput)
    }

    @Test func silenceForFiveMinutesEndsAConnection() {
        var machine = machine()
        feed("a\n", to: &machine, after: .seconds(10))
        _ = drain(&machine)
        var isOver = expires(&machine, after: .seconds(309), unsent: 0)
        #expect(!isOver)
        isOver = expires(&machine, after: .seconds(310), unsent: 0)
        #expect(isOver)
    }

    @Test func waitingForAnAnswerIsNotSilence() {
        var machine = machine()
        feed("a\n", to: &machine)
        _ = machine.next()
        machine.answered(waiting: true)
        var isOver = expires(&machine, after: .seconds(1000), unsent: 0)
        #expect(!isOver)
        machine.answerArrived(now: start + .seconds(1000))
        isOver = expires(&machine, after: .seconds(1299), unsent: 0)
        #expect(!isOver)
    }

    @Test func aReaderThatTakesNothingForHalfAMinuteIsCut() {
        var machine = machine()
        var isOver = expires(&machine, after: .zero, unsent: 500)
        #expect(!isOver)
        isOver = expires(&machine, after: .seconds(29), unsent: 500)
        #expect(!isOver)
        // A byte taken begins the time anew; bytes added do not.
        isOver = expires(&machine, after: .seconds(30), unsent: 499)
        #expect(!isOver)
        isOver = expires(&machine, after: .seconds(59), unsent: 900)
        #expect(!isOver)
        isOver = expires(&machine, after: .seconds(60), unsent: 900)
        #expect(isOver)
        #expect(machine.stalledSince == start + .seconds(30))
        isOver = expires(&machine, after: .seconds(61), unsent: 0)
        #expect(!isOver)
        #expect(machine.stalledSince == nil)
    }
}
