import Glibc
import NorrisProtocol

/// The longest input that is read, in bytes.
private let maximumInput = 4 * 1024 * 1024

/// The fact that standard input holds, and nothing else.
func readFact() throws(CardFailure) -> Fact {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while bytes.count <= maximumInput {
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        if count == 0 {
            break
        } else if count > 0 {
            bytes += buffer[..<count]
        } else if errno == EAGAIN {
            wait(for: POLLIN, at: STDIN_FILENO)
        } else if errno != EINTR {
            throw .input(errno: errno)
        }
    }
    guard bytes.count <= maximumInput else { throw .noCard(.noFact("It is longer than \(maximumInput) bytes.")) }
    let json: JSON
    do throws(JSONError) {
        json = try JSON.parse(bytes)
    } catch {
        throw .noCard(.noFact(error.description))
    }
    do throws(JSONDecodingError) {
        return try Fact(json: json)
    } catch {
        throw .noCard(.noFact(error.description))
    }
}

/// Writes all bytes to a descriptor, by one write(2) if the system takes them at once.
func write(_ bytes: [UInt8], to descriptor: Int32) throws(CardFailure) {
    var written = 0
    while written < bytes.count {
        let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + written, $0.count - written) }
        if count >= 0 {
            written += count
        } else if errno == EAGAIN {
            wait(for: POLLOUT, at: descriptor)
        } else if errno != EINTR {
            throw .output(errno: errno)
        }
    }
}

/// Until a descriptor that does not block has or takes something (poll(2)).
private func wait(for event: Int32, at descriptor: Int32) {
    var entry = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    poll(&entry, 1, -1)
}
