/// A growing byte buffer without the uniqueness checks of `[UInt8]`, which cost more than the short copies of a reply.
@usableFromInline struct OutputBytes: ~Copyable, @unchecked Sendable {
    // @unchecked Sendable: only this value owns the memory. It cannot be copied, so only one thread at a time uses it.
    // The first `count` bytes are initialized, and `count` never exceeds `capacity`.
    @usableFromInline var base: UnsafeMutableRawPointer
    @usableFromInline var count = 0
    @usableFromInline var capacity: Int

    init(capacity: Int) {
        self.capacity = max(capacity, 16)
        base = .allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit { base.deallocate() }

    @inlinable @inline(__always) mutating func append(_ byte: UInt8) {
        if count == capacity { grow(by: 1) }
        base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    @inlinable @inline(__always) mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        append(source, bytes.count)
    }

    @inlinable @inline(__always) mutating func append(_ text: StaticString) {
        append(text.utf8Start, text.utf8CodeUnitCount)
    }

    mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    @inlinable @inline(__always) mutating func append(_ source: UnsafeRawPointer, _ length: Int) {
        if length > capacity - count { grow(by: length) }
        (base + count).copyMemory(from: source, byteCount: length)
        count += length
    }

    /// Removes the bytes after the first `count` bytes, and keeps the memory.
    mutating func shrink(to count: Int) {
        precondition(count <= self.count)
        self.count = count
    }

    @usableFromInline @inline(never) mutating func grow(by length: Int) {
        capacity = max(2 * capacity, count + length)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        larger.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = larger
    }
}
