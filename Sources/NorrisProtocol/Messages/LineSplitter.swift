import Glibc

/// Splits a stream of bytes into lines. Buffers at most one line of the maximum length and the last chunk.
///
/// Call `append` with each chunk, then `next` until it returns `nil`. At the end of input, call `finish` until it
/// returns `nil`. A line ends with LF or CR LF. Lines of spaces, tabs and carriage returns are skipped. The bytes of a
/// line that is too long are dropped as they arrive; the line is reported once, when its end arrives.
package struct LineSplitter: Sendable {
    package enum Line: Sendable, Equatable {
        /// A line without its line ending. The slice shares the splitter's buffer: a slice that is still alive at the
        /// next `append` causes a copy.
        case line(ArraySlice<UInt8>)
        case tooLong
    }

    /// In bytes, without the line ending.
    private let maximumLength: Int

    private var buffer: [UInt8] = []

    /// The index at which the first unreturned line begins.
    private var start = 0

    /// The bytes between `start` and this index contain no LF and are not searched again.
    private var searched = 0

    /// Whether the bytes up to the next LF belong to a line that is too long and are dropped.
    private var isDraining = false

    /// The buffer grows by this number of bytes. An empty buffer that is larger is freed, so that connections that wait
    /// in the middle of a line use little memory.
    private static let step = 4_096
    /// The bytes reserved for the header of an array, so that each step fills whole pages.
    private static let header = 64

    /// The longest request line, in bytes without the line ending.
    package static let maximumRequest = 65_536

    package init(maximumLength: Int = LineSplitter.maximumRequest) { self.maximumLength = maximumLength }

    /// The number of buffered bytes that no returned line contains.
    package var bufferedBytes: Int { buffer.count - start }

    /// The allocated size of the buffer, in bytes.
    package var capacity: Int { buffer.capacity }

    /// Removes and returns the memory of an empty buffer, or nil if the buffer is not empty or larger than a step.
    package mutating func takeStorage() -> [UInt8]? {
        guard start == buffer.count, buffer.capacity > 0, buffer.capacity <= Self.step else { return nil }
        // The swap avoids a second reference, which would cause a copy.
        var storage: [UInt8] = []
        swap(&storage, &buffer)
        (start, searched) = (0, 0)
        storage.removeAll(keepingCapacity: true)
        return storage
    }

    /// Uses the memory of an empty array if the buffer has no memory.
    package mutating func lendStorage(_ storage: inout [UInt8]) {
        if buffer.capacity == 0 { swap(&buffer, &storage) }
    }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        discardTakenBytes()
        guard isDraining, bufferedBytes == 0 else { return store(bytes) }
        // The LF is stored, so that `next` finds the end of the long line; so are the bytes after it.
        if let index = Self.indexOfLineFeed(in: bytes) { store(UnsafeRawBufferPointer(rebasing: bytes[index...])) }
    }

    private mutating func store(_ bytes: UnsafeRawBufferPointer) {
        if buffer.count + bytes.count > buffer.capacity { move(toCapacity: bufferedBytes + bytes.count) }
        buffer.append(contentsOf: bytes)
    }

    /// Moves the unreturned bytes to a buffer of this size, rounded up to a step. An array by itself would double its
    /// size. Only a buffer of more than four maximum requests grows by half.
    private mutating func move(toCapacity count: Int) {
        let wanted = count > 4 * Self.maximumRequest ? count + count / 2 : count
        var moved: [UInt8] = []
        moved.reserveCapacity((wanted + Self.header + Self.step - 1) / Self.step * Self.step - Self.header)
        moved.append(contentsOf: buffer[start...])
        buffer = moved
        searched -= start
        start = 0
    }

    /// Frees the memory of returned lines if less than a quarter of the buffer is in use.
    package mutating func shrink() {
        if buffer.capacity > Self.step, bufferedBytes < buffer.capacity / 4 { move(toCapacity: bufferedBytes) }
    }

    /// Returns the next complete line, or `nil` if more bytes are needed.
    package mutating func next() -> Line? {
        while let end = indexOfNextLineFeed() {
            let line = start..<end
            start = end + 1
            searched = start
            if isDraining {
                isDraining = false
                return .tooLong
            }
            if let line = taken(line) { return line }
        }
        // A CR at the end does not count, because it may belong to the line ending.
        let lengthWithoutEnd = buffer.last == Self.carriageReturn ? bufferedBytes - 1 : bufferedBytes
        if lengthWithoutEnd > maximumLength {
            isDraining = true
            start = buffer.count
            searched = start
        }
        if start == buffer.count, buffer.capacity > Self.step {
            buffer = []
            start = 0
            searched = 0
        }
        return nil
    }

    /// Returns the remaining lines at the end of input. The last line may have no line ending.
    package mutating func finish() -> Line? {
        if let line = next() { return line }
        if isDraining {
            isDraining = false
            return .tooLong
        }
        let rest = start..<buffer.count
        start = buffer.count
        searched = start
        return taken(rest)
    }

    /// Returns the line in the range, less a final CR; `nil` if the line is blank.
    private func taken(_ range: Range<Int>) -> Line? {
        var end = range.upperBound
        if end > range.lowerBound, buffer[end - 1] == Self.carriageReturn { end -= 1 }
        guard end - range.lowerBound <= maximumLength else { return .tooLong }
        var first = range.lowerBound
        while first < end, Self.isBlank(buffer[first]) { first += 1 }
        return first == end ? nil : .line(buffer[range.lowerBound..<end])
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == carriageReturn
    }

    private mutating func indexOfNextLineFeed() -> Int? {
        let index = buffer.withUnsafeBytes { bytes in
            Self.indexOfLineFeed(in: UnsafeRawBufferPointer(rebasing: bytes[searched...]))
        }
        guard let index else {
            searched = buffer.count
            return nil
        }
        return searched + index
    }

    private static func indexOfLineFeed(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let base = bytes.baseAddress, let found = memchr(base, Int32(UInt8(ascii: "\n")), bytes.count) else {
            return nil
        }
        return UnsafeRawPointer(found) - base
    }

    /// Moves the rest to the front when at least half of the buffer was returned. Each returned byte therefore pays for
    /// at most one moved byte.
    private mutating func discardTakenBytes() {
        guard start > 0, start >= buffer.count - start else { return }
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: true)
        } else {
            buffer.removeFirst(start)
        }
        searched -= start
        start = 0
    }

    private static let carriageReturn = UInt8(ascii: "\r")
}
