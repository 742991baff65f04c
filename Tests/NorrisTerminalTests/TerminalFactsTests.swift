import Glibc
import NorrisProtocol
import NorrisTerminal
import Testing

struct TerminalFactsTests {
    @Test(arguments: [
        (40, 100, "90", 40),
        (nil, 100, "90", 100),
        (nil, nil, "90", 90),
        (nil, nil, nil, 80),
        (nil, nil, "", 80),
        (nil, nil, "0", 80),
        (nil, nil, "-5", 80),
        (nil, nil, "wide", 80),
    ] as [(Int?, Int?, String?, Int)])
    func takesTheWidthFromFlagDriverOrVariable(flag: Int?, driver: Int?, variable: String?, width: Int) {
        let facts = TerminalFacts(isTerminal: true, columns: driver)
        #expect(facts.width(flag: flag, environment: variable.map { ["COLUMNS": $0] } ?? [:]) == width)
    }

    @Test func asksTheDriverOfARealTerminal() {
        let terminal = PseudoTerminal(columns: 123, rows: 45)
        let facts = TerminalFacts(isTerminal: true, columns: 123, rows: 45)
        #expect(TerminalFacts(descriptor: terminal.descriptor) == facts)
    }

    @Test func knowsNoSizeWhereTheDriverSaysZero() {
        let terminal = PseudoTerminal(columns: 0)
        #expect(TerminalFacts(descriptor: terminal.descriptor) == TerminalFacts(isTerminal: true, columns: nil))
    }

    @Test func tellsAPipeFromATerminal() {
        let pipe = Pipe()
        #expect(TerminalFacts(descriptor: pipe.writing) == TerminalFacts(isTerminal: false, columns: nil))
    }
}

/// The program's side of a pseudo-terminal.
struct PseudoTerminal: ~Copyable {
    let descriptor: Int32
    private let master: Int32

    init(columns: UInt16, rows: UInt16 = 0) {
        // As pty(7) tells: unlock the other side, ask for its number, open it. The requests are TIOCSPTLCK and
        // TIOCGPTN (ioctl_tty(2)), whose macros Swift does not import.
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var locked: Int32 = 0
        var number: UInt32 = 0
        var size = winsize()
        size.ws_col = columns
        size.ws_row = rows
        let isUnlocked = ioctl(master, 0x4004_5431, &locked) == 0 && ioctl(master, 0x8004_5430, &number) == 0
        descriptor = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        precondition(isUnlocked && ioctl(descriptor, UInt(TIOCSWINSZ), &size) == 0, "There is no pseudo-terminal.")
    }

    deinit {
        close(descriptor)
        close(master)
    }
}

struct Pipe: ~Copyable {
    let reading: Int32
    let writing: Int32

    init() {
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0)
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        close(reading)
        close(writing)
    }
}
