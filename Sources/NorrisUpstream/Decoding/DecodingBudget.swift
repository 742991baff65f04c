import Glibc

/// Bounds the decoding of one document: bytes copied, elements, depth, and CPU time of the decoding thread. Whatever
/// takes memory or time in proportion to the document spends first. The first limit that is passed is remembered: from
/// then on the loops of the decoders end early, and the next ``check()`` throws.
final class DecodingBudget {
    struct Limits {
        /// Everything that decoders copy out of the document or add to it, whether it is stored or not.
        var bytes = 64 << 20
        /// Elements and attributes of XML, tags of HTML, items and members of JSON.
        var elements = 2_000_000
        /// Open elements of XML; the content of feeds is far less deep. JSON has lower limits of its own.
        var depth = 256
        /// CPU time of the thread.
        var time = Duration.seconds(3)
    }

    let limits: Limits
    private(set) var bytes = 0
    private(set) var elements = 0
    private let clock: () -> Duration
    private let start: Duration
    /// Bytes since the clock was read.
    private var unchecked = 0
    private var failure: UpstreamError?

    /// The clock and the task's cancellation are checked once for so many bytes.
    private static let interval = 64 << 10
    /// An element costs about as much time as so many bytes.
    private static let elementWeight = 256

    /// - Parameter clock: the CPU time of the calling thread, from any moment on.
    init(_ limits: Limits = Limits(), clock: @escaping () -> Duration = DecodingBudget.threadTime) {
        self.limits = limits
        self.clock = clock
        start = clock()
    }

    /// Whether no limit was passed so far.
    var isLeft: Bool { failure == nil }

    /// Takes memory; false if it should not be taken.
    @discardableResult
    func spend(bytes count: Int) -> Bool {
        bytes += count
        if bytes > limits.bytes {
            exceed("is too large to decode: it takes more than \(limits.bytes >> 20) MiB of memory")
        }
        return read(bytes: count)
    }

    /// Takes elements; false if they should not be taken.
    @discardableResult
    func spend(elements count: Int) -> Bool {
        elements += count
        if elements > limits.elements { exceed("is too large to decode: it has more than \(limits.elements) elements") }
        return read(bytes: count * Self.elementWeight)
    }

    /// Takes only the time to read so many bytes; false if nothing more should be read.
    @discardableResult
    func read(bytes count: Int) -> Bool {
        unchecked += count
        if unchecked >= Self.interval {
            unchecked = 0
            if Task.isCancelled { failure = failure ?? .cancelled }
            if clock() - start > limits.time {
                exceed("takes too long to decode: more than \(limits.time.text) of CPU time")
            }
        }
        return isLeft
    }

    /// - Throws: an error if a limit was passed; `cancelled` in a cancelled task.
    func check() throws(UpstreamError) {
        if let failure { throw failure }
        if Task.isCancelled { throw .cancelled }
    }

    private func exceed(_ limit: String) {
        let advice = "use a smaller one, or disable this source"
        failure = failure ?? .unusable("answered with a document that \(limit); \(advice)")
    }

    private static func threadTime() -> Duration {
        var time = timespec()
        // Fails for unknown clocks and bad pointers only.
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
