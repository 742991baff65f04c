import Glibc
import NorrisSystem

/// Bounds the decoding of one document: bytes copied, memory, elements, depth, and CPU time of the decoding thread.
/// Whatever takes memory or time in proportion to the document spends first, and holds the memory that stays. The first
/// limit that is passed is remembered: from then on the loops of the decoders end early, and the next ``check()``
/// throws.
final class DecodingBudget {
    struct Limits {
        /// Everything that decoders copy out of the document or add to it, whether it is stored or not.
        var bytes = 64 << 20
        /// Memory at one time, besides the body of the response, which has an account of its own. With a body of the
        /// default limit of 16 MiB a document takes 64 MiB at most.
        var memory = 48 << 20
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
    /// The memory that is held now, in bytes.
    private(set) var held = 0
    /// Counts ``held`` in the ledger; a batch keeps it for as long as its content is in memory.
    let memory: MemoryLease
    /// The memory of the account that only other documents may take, in bytes.
    private let reserve: Int
    private let clock: () -> Duration
    private let start: Duration
    /// Bytes since the clock was read.
    private var unchecked = 0
    private var failure: UpstreamError?

    /// The clock and the task's cancellation are checked once for so many bytes.
    private static let interval = 64 << 10
    /// Memory is taken from the ledger in such steps, in bytes.
    private static let memoryStep = 64 << 10
    /// The memory of the account that large documents leave to small ones, in bytes.
    static let smallReserve = 16 << 20
    /// An element costs about as much time as so many bytes.
    private static let elementWeight = 256

    /// - Parameters:
    ///   - isLarge: whether the document leaves ``smallReserve`` to others.
    ///   - clock: the CPU time of the calling thread, from any moment on.
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

    /// Whether no limit was passed so far.
    var isLeft: Bool { failure == nil }

    /// Takes memory; false if it should not be taken.
    @discardableResult func spend(bytes count: Int) -> Bool {
        bytes += count
        if bytes > limits.bytes {
            exceed("is too large to decode: it takes more than \(limits.bytes >> 20) MiB of memory")
        }
        return read(bytes: count)
    }

    /// Counts memory that stays until it is released; false if the memory should not be taken.
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

    /// Gives back memory that was held.
    func release(_ count: Int) {
        held -= count
        // Most of it is held again at once.
        if held < memory.bytes - (1 << 20) { memory.shrink(to: held + Self.memoryStep) }
    }

    /// Takes elements; false if they should not be taken.
    @discardableResult func spend(elements count: Int) -> Bool {
        elements += count
        if elements > limits.elements { exceed("is too large to decode: it has more than \(limits.elements) elements") }
        return read(bytes: count * Self.elementWeight)
    }

    /// Takes only the time to read so many bytes; false if nothing more should be read.
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
