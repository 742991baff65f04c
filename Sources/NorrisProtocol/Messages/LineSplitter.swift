import Glibc

/// Cuts a stream of bytes into lines, holding no more of it than one line of the maximum length and the last chunk.
///
/// Pure: `append` what was read, then call `next` until it gives `nil`; at the end of input call `finish` until it
/// gives `nil`. A line ends with LF or CR LF. Lines of spaces, tabs and carriage returns only are skipped. A line that
/// is too long is dropped while it arrives and reported once, when its end has been seen.
package struct LineSplitter: Sendable {
    package enum Line: Sendable, Equatable {
        /// A line without its end. The slice shares the splitter's memory: let go of it before the next `append`, or
        /// the buffer is copied.
        case line(ArraySlice<UInt8>)
        case tooLong
    }

    /// In bytes, the end of the line not counted.
    private let maximumLength: Int

    private var buffer: [UInt8] = []

    /// Where the first line that has not been handed out begins.
    private var start = 0

    /// No LF stands between `start` and here, so these bytes are never searched again.
    private var searched = 0

    /// Inside a line that is too long: everything up to its LF is dropped.
    private var isDraining = false

    /// Buffers grow by steps of so many bytes, and larger ones are given back when they are empty: connections that
    /// wait in the middle of a line hold little more than what has come of it.
    private static let step = 4_096
    /// What an array needs beside its elements, so that a step is a whole page.
    private static let header = 64

    /// The longest request line, in bytes without its end.
    package static let maximumRequest = 65_536

    package init(maximumLength: Int = LineSplitter.maximumRequest) { self.maximumLength = maximumLength }

    /// How many bytes are held that no line has taken yet.
    package var bufferedBytes: Int { buffer.count - start }

    /// How much memory is held for them, in bytes.
    package var capacity: Int { buffer.capacity }

    /// The buffer's memory, where it is empty and has some to give away.
    package mutating func takeStorage() -> [UInt8]? {
        guard start == buffer.count, buffer.capacity > 0, buffer.capacity <= Self.step else { return nil }
        // Swapped, so that nobody else holds the memory and nothing is copied.
        var storage: [UInt8] = []
        swap(&storage, &buffer)
        (start, searched) = (0, 0)
        storage.removeAll(keepingCapacity: true)
        return storage
    }

    /// Uses the memory of an empty array, where it has none.
    package mutating func lendStorage(_ storage: inout [UInt8]) {
        if buffer.capacity == 0 { swap(&buffer, &storage) }
    }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        discardTakenBytes()
        guard isDraining, bufferedBytes == 0 else { return store(bytes) }
        // The LF itself is kept, for `next` to find the end of the long line. Once it is there, what follows is kept.
        if let index = Self.indexOfLineFeed(in: bytes) { store(UnsafeRawBufferPointer(rebasing: bytes[index...])) }
    }

    private mutating func store(_ bytes: UnsafeRawBufferPointer) {
        if buffer.count + bytes.count > buffer.capacity { move(toCapacity: bufferedBytes + bytes.count) }
        buffer.append(contentsOf: bytes)
    }

    /// Moves what no line has taken to a buffer of so many bytes or a step more. An array by itself would take twice as
    /// many; only what is longer than any request grows by half.
    private mutating func move(toCapacity count: Int) {
        let wanted = count > 4 * Self.maximumRequest ? count + count / 2 : count
        var moved: [UInt8] = []
        moved.reserveCapacity((wanted + Self.header + Self.step - 1) / Self.step * Self.step - Self.header)
        moved.append(contentsOf: buffer[start...])
        buffer = moved
        searched -= start
        start = 0
    }

    /// Gives back the memory of lines that were taken, where it is most of the buffer.
    package mutating func shrink() {
        if buffer.capacity > Self.step, bufferedBytes < buffer.capacity / 4 { move(toCapacity: bufferedBytes) }
    }

    /// The next complete line, or `nil` when more bytes are needed.
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
        // One byte more may be the CR of a line that is just short enough.
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

    /// What is left at the end of input: complete lines first, then a last one that has no end.
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

    /// The line in the range without a CR at its end; `nil` if it is blank.
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

    /// Moves the rest to the front once at least half of the buffer has been taken: each byte moves at most once for
    /// each byte that was taken, so lines never pay for their neighbours.
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
