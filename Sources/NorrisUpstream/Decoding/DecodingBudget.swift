import Glibc
import NorrisThreads

/// Limits the decoding of one document: bytes copied, memory, elements, depth, and CPU time. Code whose cost grows with
/// the document calls `spend` first, and `hold` for memory that stays in use. After the first exceeded limit, the
/// decoders' loops end early, and the next ``check()`` throws.
final class DecodingBudget {
    struct Limits {
        /// The bytes that decoders copy from the document or add to it, whether stored or not.
        var bytes = 64 << 20
        /// The memory in use at one time, without the body of the response, which has a separate account. With a body
        /// of the default limit of 16 MiB, a document takes at most 64 MiB.
        var memory = 48 << 20
        /// XML elements and attributes, HTML tags, JSON items and members.
        var elements = 2_000_000
        /// Open XML elements; feeds are much less deep. JSON has separate, lower limits.
        var depth = 256
        /// CPU time of the decoding thread.
        var time = Duration.seconds(3)
    }

    let limits: Limits
    private(set) var bytes = 0
    private(set) var elements = 0
    /// The memory in use now, in bytes.
    private(set) var held = 0
    /// Counts ``held`` in the ledger; a batch keeps the lease while its content is in memory.
    let memory: MemoryLease
    /// The memory of the account reserved for other documents, in bytes.
    private let reserve: Int
    private let clock: () -> Duration
    private let start: Duration
    /// Bytes read since the last reading of the clock.
    private var unchecked = 0
    private var failure: UpstreamError?

    /// The bytes after which the clock and the task's cancellation are checked again.
    private static let interval = 64 << 10
    /// The step in which memory is taken from the ledger, in bytes.
    private static let memoryStep = 64 << 10
    /// The memory of the account that large documents leave to small documents, in bytes.
    static let smallReserve = 16 << 20
    /// The number of bytes that take about as much time as one element.
    private static let elementWeight = 256

    /// - Parameters:
    ///   - isLarge: whether the document leaves ``smallReserve`` to other documents.
    ///   - clock: the CPU time of the calling thread since any fixed moment.
    init(
        _ limits: Limits = Limits(), isLarge: Bool = false, ledger: MemoryLedger = .shared,
        clock: @escaping () -> Duration = DecodingBudget.threadTime
    ) {
        self.limits = limits
        memory = MemoryLease(.decoding, of: ledger)
        reserve = isLarge ? Self.smallReserve : 0
        self.clock = clock
        start = clock()
    }

    var isLeft: Bool { failure == nil }

    /// Counts bytes that are copied. Returns false if the caller must not copy them.
    @discardableResult func spend(bytes count: Int) -> Bool {
        bytes += count
        if bytes > limits.bytes {
            exceed("is too large to decode: it takes more than \(limits.bytes >> 20) MiB of memory")
        }
        return read(bytes: count)
    }

    /// Counts memory that stays in use until ``release(_:)``. Returns false if the caller must not allocate it.
    @discardableResult func hold(_ count: Int) -> Bool {
        held += count
        if held > limits.memory {
            exceed("is too large to decode: it takes more than \(limits.memory >> 20) MiB of memory")
        } else if isLeft, held > memory.bytes, !memory.grow(by: held - memory.bytes + Self.memoryStep, leaving: reserve)
        {
            failure = .busy("")
        }
        return isLeft
    }

    func release(_ count: Int) {
        held -= count
        // The lease keeps 1 MiB, because most released memory is needed again soon.
        if held < memory.bytes - (1 << 20) { memory.shrink(to: held + Self.memoryStep) }
    }

    /// Counts elements. Returns false if the caller must not process them.
    @discardableResult func spend(elements count: Int) -> Bool {
        elements += count
        if elements > limits.elements { exceed("is too large to decode: it has more than \(limits.elements) elements") }
        return read(bytes: count * Self.elementWeight)
    }

    /// Counts the time to read `count` bytes. Returns false if the caller must stop reading.
    @discardableResult func read(bytes count: Int) -> Bool {
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

    /// - Throws: the error of the first exceeded limit; `cancelled` in a cancelled task.
    func check() throws(UpstreamError) {
        if let failure { throw failure }
        if Task.isCancelled { throw .cancelled }
    }

    private func exceed(_ limit: String) {
        let advice = "use a smaller one, or disable this source"
        failure = failure ?? UpstreamError(.decode, "answered with a document that \(limit); \(advice)")
    }

    private static func threadTime() -> Duration {
        var time = timespec()
        // clock_gettime(2) fails only for an unknown clock or a bad pointer.
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
