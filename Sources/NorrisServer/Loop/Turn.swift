import Glibc

/// One turn of a connection on the event loop: 64 lines, or what can be done in a millisecond.
struct Turn {
    static let maximumLines = 64
    /// In nanoseconds.
    static let maximumTime = 1_000_000

    private(set) var isOver = false
    private var lines = 0
    private let end: Int
    /// How many bytes of replies there were when the clock was last read.
    private var written: Int
    /// Requests to one method that followed each other, and when the first of them began.
    private var run: (method: MethodRegistry.Method?, count: Int, start: Int)
    private let now: () -> Int

    /// - Parameters:
    ///   - start: nanoseconds of the monotonic clock.
    ///   - written: how many bytes of replies there are already.
    init(start: Int, written: Int, now: @escaping () -> Int = monotonicNanoseconds) {
        end = start + Turn.maximumTime
        run = (nil, 0, start)
        self.written = written
        self.now = now
    }

    /// A line, a notification or an entry of a batch is done. The clock is read after every eighth of them, and after
    /// one with a long reply.
    ///
    /// - Parameter written: how many bytes of replies there are now.
    mutating func spend(written: Int) {
        lines += 1
        if lines >= Turn.maximumLines {
            isOver = true
        } else if lines % 8 == 0 || written - self.written > 4096 {
            self.written = written
            if now() >= end { isOver = true }
        }
    }

    /// Replies are written elsewhere from now on, where there are so many bytes already.
    mutating func moved(written: Int) { self.written = written }

    /// A request was answered. Those to the same method that follow each other are timed together.
    mutating func answered(_ method: MethodRegistry.Method) {
        if method !== run.method {
            if run.method != nil { endRun(now()) }
            run.method = method
        }
        run.count += 1
    }

    /// The turn is over, at this time.
    mutating func finish(_ now: Int) {
        if run.method != nil { endRun(now) }
    }

    private mutating func endRun(_ now: Int) {
        run.method?.meter.record(count: run.count, nanoseconds: now - run.start)
        run = (nil, 0, now)
    }
}

/// Swift's own clocks give a time of 128 bits, which costs as much again as reading the clock.
func monotonicNanoseconds() -> Int {
    var time = timespec()
    // Fails only for a clock that the kernel does not have (clock_gettime(2)).
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
