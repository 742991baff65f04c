import CLinux
import Glibc
import NorrisProtocol

/// A fact in its wire form. The bytes are valid only during the call of the body.
package struct EncodedFact {
    /// The wire form.
    package let json: UnsafeRawBufferPointer
    /// Whether the fact is from the starting collection or a fortune file.
    package let isLocal: Bool
    package let isExplicit: Bool

    /// Whether the JSON begins with this id, which needs no escapes.
    fileprivate func hasID(_ id: String) -> Bool {
        let start = #"{"id":""#.utf8.count
        var id = id
        return id.withUTF8 { id in
            guard json.count > start + id.count, json[start + id.count] == UInt8(ascii: "\""),
                !id.contains(UInt8(ascii: "\\"))
            else { return false }
            return json[start..<start + id.count].elementsEqual(id)
        }
    }

    /// The record with its header.
    var record: UnsafeRawBufferPointer {
        // The JSON follows the header in the same buffer.
        UnsafeRawBufferPointer(
            start: json.baseAddress.map { $0 - FactRecord.unit }, count: json.count + FactRecord.unit)
    }
}

/// An encoded fact: a header of 16 bytes and the JSON. The ordinal is the position in units of 16 bytes.
///
/// The header contains little-endian words of 32 bits: the ordinal, the bytes of the JSON, a checksum of the JSON and
/// the flags, and the flags. The checksum includes the key of the cache, so that records of another cache are invalid.
enum FactRecord {
    static let unit = 16
    /// The size of a chunk in units. A record never spans two chunks; the longest record fills a chunk.
    static let chunkUnits: UInt32 = 8_192
    static let chunkSize = Int(chunkUnits) * unit

    private static let local: UInt32 = 1
    private static let explicit: UInt32 = 2

    /// Appends a record. Returns nil if the record is longer than a chunk.
    ///
    /// - Parameters:
    ///   - next: the lowest free ordinal; after the call the lowest free ordinal after the record.
    ///   - bytes: the bytes from the ordinal `first` on.
    /// - Returns: the ordinal of the record.
    static func append(
        _ fact: Fact, next: inout UInt32, to bytes: inout [UInt8], first: UInt32, key: UInt64, _ json: inout JSONWriter
    ) -> UInt32? {
        let record = encode(fact, 0, key: key, &json)
        let units = UInt32(record.count / unit)
        guard units <= chunkUnits else { return nil }
        var ordinal = next
        if ordinal % chunkUnits + units > chunkUnits { ordinal += chunkUnits - ordinal % chunkUnits }
        bytes.append(contentsOf: repeatElement(0, count: Int(ordinal - first) * unit - bytes.count))
        withUnsafeBytes(of: ordinal.littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: record[4...])
        next = ordinal + units
        return ordinal
    }

    /// A record, padded with zeros to a whole unit.
    static func encode(_ fact: Fact, _ ordinal: UInt32, key: UInt64, _ json: inout JSONWriter) -> [UInt8] {
        json.removeAll()
        fact.encode(to: &json)
        return json.withBytes { json in
            var bytes: [UInt8] = []
            bytes.reserveCapacity(json.count + 2 * unit)
            let flags = (fact.isLocal ? local : 0) | (fact.isExplicit ? explicit : 0)
            for word in [ordinal, UInt32(json.count), checksum(json, flags, key), flags] {
                withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
            }
            bytes.append(contentsOf: json)
            bytes.append(contentsOf: repeatElement(0, count: -bytes.count & (unit - 1)))
            return bytes
        }
    }

    /// The record at the beginning of the bytes; nil if they do not contain a complete record with this ordinal.
    static func read(_ ordinal: UInt32, _ bytes: UnsafeRawBufferPointer) -> EncodedFact? {
        guard bytes.count >= unit, word(0, bytes) == ordinal else { return nil }
        let length = Int(word(1, bytes))
        guard length <= bytes.count - unit else { return nil }
        let flags = word(3, bytes)
        let json = UnsafeRawBufferPointer(rebasing: bytes[unit..<unit + length])
        return EncodedFact(json: json, isLocal: flags & local != 0, isExplicit: flags & explicit != 0)
    }

    /// The same as ``read(_:_:)``, for bytes that may be damaged.
    static func check(_ ordinal: UInt32, _ bytes: UnsafeRawBufferPointer, key: UInt64) -> EncodedFact? {
        guard let fact = read(ordinal, bytes), checksum(fact.json, word(3, bytes), key) == word(2, bytes) else {
            return nil
        }
        return fact
    }

    /// The bytes of a record's JSON, from its header.
    static func length(_ bytes: UnsafeRawBufferPointer) -> Int { Int(word(1, bytes)) }

    private static func word(_ index: Int, _ bytes: UnsafeRawBufferPointer) -> UInt32 {
        UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
    }

    /// Detects accidental damage only, because an attacker who can write the file can also write `cache.db`.
    private static func checksum(_ bytes: UnsafeRawBufferPointer, _ flags: UInt32, _ key: UInt64) -> UInt32 {
        var sum = (UInt64(bytes.count) | UInt64(flags) << 32) ^ key
        var offset = 0
        func add(_ word: UInt64) {
            sum = (sum ^ word) &* 0x9E37_79B9_7F4A_7C15
            sum ^= sum >> 29
        }
        while offset + 8 <= bytes.count {
            add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        while offset < bytes.count {
            add(UInt64(bytes[offset]))
            offset += 1
        }
        return UInt32(truncatingIfNeeded: sum ^ (sum >> 32))
    }
}

/// The encoded facts in memory, if there are few. A chunk ends after its last fact.
struct FactChunks {
    private var chunks: [[UInt8]] = []
    /// The ordinals by the hashes of their ids.
    private var ordinals: [Int: UInt32] = [:]

    /// Calls `body` with a record.
    ///
    /// - Returns: nil if the record is not in memory.
    @inline(__always)
    func withRecord<Result>(_ ordinal: UInt32, _ body: (EncodedFact) throws -> Result) rethrows -> Result? {
        let chunk = Int(ordinal / FactRecord.chunkUnits)
        guard chunk < chunks.count else { return nil }
        let start = Int(ordinal % FactRecord.chunkUnits) * FactRecord.unit
        return try chunks[chunk].withUnsafeBytes { bytes in
            guard start < bytes.count,
                let fact = FactRecord.read(ordinal, UnsafeRawBufferPointer(rebasing: bytes[start...]))
            else { return nil }
            return try body(fact)
        }
    }

    /// Calls `body` with a fact by its id, and returns its ordinal.
    ///
    /// - Returns: nil, without a call, if the fact is explicit or not in memory.
    func withFact(id: String, _ body: (EncodedFact) -> Void) -> UInt32? {
        guard let ordinal = ordinals[id.hashValue] else { return nil }
        let isCalled = withRecord(ordinal) { fact in
            // Two ids may have the same hash. An id with escapes is only found in the database.
            guard fact.hasID(id), !fact.isExplicit else { return false }
            body(fact)
            return true
        }
        return isCalled == true ? ordinal : nil
    }

    /// Adds complete records, with or without zeros between them.
    mutating func write(_ bytes: [UInt8], at first: UInt32) {
        var (offset, ordinal) = (0, first)
        while offset < bytes.count {
            let (chunk, unit) = (Int(ordinal / FactRecord.chunkUnits), ordinal % FactRecord.chunkUnits)
            let count = min(bytes.count - offset, Int(FactRecord.chunkUnits - unit) * FactRecord.unit)
            while chunks.count <= chunk { chunks.append([]) }
            let start = Int(unit) * FactRecord.unit
            let missing = start + count - chunks[chunk].count
            if missing > 0 { chunks[chunk].append(contentsOf: repeatElement(0, count: missing)) }
            chunks[chunk].replaceSubrange(start..<start + count, with: bytes[offset..<offset + count])
            offset += count
            ordinal &+= UInt32(truncatingIfNeeded: count / FactRecord.unit)
        }
    }

    /// The number of chunks with facts.
    var count: Int { chunks.reduce(0) { $0 + ($1.isEmpty ? 0 : 1) } }
    mutating func note(_ id: String, _ ordinal: UInt32) { ordinals[id.hashValue] = ordinal }

    mutating func forget(_ id: String, _ ordinal: UInt32) {
        if ordinals[id.hashValue] == ordinal { ordinals[id.hashValue] = nil }
    }
}

/// The encoded facts in a file beside `cache.db`, if there are too many for memory.
///
/// The file contains no data that `cache.db` does not. A missing or damaged record is written again on demand, so the
/// file may be deleted, truncated or damaged at any time. The file is read and never mapped, because truncating a
/// mapped file would end the process (SIGBUS, mmap(2)).
final class FactFile: Sendable {
    enum Read<Result> {
        case record(Result)
        /// The record is not in the page cache, so a read would wait for a disk.
        case wouldBlock
        case damaged
    }

    /// How reads that must not wait for a disk work on a file system.
    enum Nonblocking {
        /// RWF_NOWAIT of preadv2(2).
        case flag
        /// No read waits, because the file system has no disk: tmpfs(5).
        case always
        /// Every read may wait, for example for a network (NFS, FUSE).
        case never
    }

    /// -1 if there is no file.
    private let descriptor: CInt
    private let nonblocking: Nonblocking
    /// The key of the cache.
    let key: UInt64

    /// - Parameters:
    ///   - path: nil for a cache in memory.
    ///   - nonblocking: nil to ask the file system.
    init(path: String?, key: UInt64, nonblocking: Nonblocking? = nil) {
        self.key = key
        let flags = O_CLOEXEC | O_NOFOLLOW
        var descriptor = path.map { open($0, O_RDWR | O_CREAT | flags, 0o600) } ?? -1
        // In a folder without write permission, an existing file can be read.
        if descriptor < 0, let path { descriptor = open(path, O_RDONLY | flags) }
        self.descriptor = descriptor
        self.nonblocking = nonblocking ?? FactFile.nonblocking(descriptor)
    }

    private static func nonblocking(_ descriptor: CInt) -> Nonblocking {
        var byte: UInt8 = 0
        let count = withUnsafeMutableBytes(of: &byte) { byte in
            var vector = iovec(iov_base: byte.baseAddress, iov_len: 1)
            return preadv2(descriptor, &vector, 1, 0, CInt(norris_rwf_nowait))
        }
        guard count < 0, errno == EOPNOTSUPP else { return .flag }
        var system = statfs()
        // TMPFS_MAGIC of linux/magic.h.
        return fstatfs(descriptor, &system) == 0 && system.f_type == 0x0102_1994 ? .always : .never
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// In bytes; 0 if there is no file.
    var size: Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Calls `body` with a record.
    ///
    /// - Parameter waits: whether the read may wait for a disk.
    func withRecord<Result>(
        _ ordinal: UInt32, waits: Bool, _ body: (EncodedFact) throws -> Result
    ) rethrows -> Read<Result> {
        // Nearly all facts are this short, and a much larger buffer would not be on the stack.
        try withRecord(ordinal, waits: waits, reading: 512, body)
    }

    private func withRecord<Result>(
        _ ordinal: UInt32, waits: Bool, reading wanted: Int, _ body: (EncodedFact) throws -> Result
    ) rethrows -> Read<Result> {
        try withUnsafeTemporaryAllocation(byteCount: wanted, alignment: 16) { buffer in
            guard let count = read(buffer, ordinal, waits: waits) else { return .wouldBlock }
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            if let fact = FactRecord.check(ordinal, bytes, key: key) { return .record(try body(fact)) }
            let whole = count >= FactRecord.unit ? FactRecord.unit + FactRecord.length(bytes) : 0
            if count == wanted, (wanted + 1...FactRecord.chunkSize).contains(whole) {
                return try withRecord(ordinal, waits: waits, reading: whole, body)
            }
            // The rest may only be missing in the page cache.
            return waits || count == wanted ? .damaged : .wouldBlock
        }
    }

    /// - Returns: nil if the read would wait for a disk.
    private func read(_ buffer: UnsafeMutableRawBufferPointer, _ ordinal: UInt32, waits: Bool) -> Int? {
        if !waits, nonblocking == .never { return nil }
        var vector = iovec(iov_base: buffer.baseAddress, iov_len: buffer.count)
        let offset = off_t(ordinal) * off_t(FactRecord.unit)
        let flags = waits || nonblocking == .always ? 0 : CInt(norris_rwf_nowait)
        while true {
            let count = preadv2(descriptor, &vector, 1, offset, flags)
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN, EOPNOTSUPP: return nil
            default: return 0
            }
        }
    }

    /// The existing bytes of the chunk that begins at an ordinal.
    func chunk(at ordinal: UInt32) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: FactRecord.chunkSize) { buffer, count in
            count = read(UnsafeMutableRawBufferPointer(buffer), ordinal, waits: true) ?? 0
            count -= count % FactRecord.unit
        }
    }

    /// Writes records. A record that cannot be written is written again on demand.
    ///
    /// The ordinals of a rolled back transaction are used again. After a failed write the file may contain facts that
    /// were never stored, so the file is truncated there.
    func write(_ bytes: [UInt8], at first: UInt32) {
        guard descriptor >= 0 else { return }
        bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
                let offset = off_t(first) * off_t(FactRecord.unit) + off_t(written)
                let count = pwrite(descriptor, rest.baseAddress, rest.count, offset)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    _ = ftruncate(descriptor, off_t(first) * off_t(FactRecord.unit))
                    return
                }
                written += count
            }
        }
    }

    /// Returns the complete disk blocks between two ordinals to the file system.
    func release(_ range: Range<UInt32>) {
        let block = off_t(4_096)
        let start = (off_t(range.lowerBound) * off_t(FactRecord.unit) + block - 1) / block * block
        let end = off_t(range.upperBound) * off_t(FactRecord.unit) / block * block
        guard descriptor >= 0, end > start else { return }
        // A file system without hole punching keeps the blocks.
        _ = fallocate(descriptor, CInt(norris_falloc_punch_hole | norris_falloc_keep_size), start, end - start)
    }
}
