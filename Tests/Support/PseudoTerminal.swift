package import Foundation

/// A program in a separate terminal, controlled by a test.
package final class PseudoTerminal {
    package struct NotOpened: Error { package let code: Int32 }

    private let descriptor: Int32
    private let process: ChildProcess
    /// All output so far; CR LF ends a line.
    package private(set) var transcript: [UInt8] = []
    /// The bytes of the transcript that earlier waits have read.
    private var position = 0

    /// - Parameters:
    ///   - program: a path, or a name in the usual folders.
    ///   - environment: the whole environment except `PATH`, and by default `TERM`, which is `xterm-256color`, and
    ///     `NORRISCTL_PAGER`, which turns the pager off because it would wait for keys.
    package init(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:], columns: Int = 80,
        rows: Int = 24
    ) throws {
        var (leader, follower): (Int32, Int32) = (-1, -1)
        // Longer than any path in /dev/pts.
        var name = [CChar](repeating: 0, count: 64)
        var size = Self.size(columns: columns, rows: rows)
        guard openpty(&leader, &follower, &name, nil, &size) == 0 else { throw NotOpened(code: errno) }
        descriptor = leader
        _ = fcntl(leader, F_SETFD, FD_CLOEXEC)
        _ = fcntl(follower, F_SETFD, FD_CLOEXEC)
        // After the child has opened the terminal, because a terminal without an open descriptor is closed.
        defer { close(follower) }
        process = try ChildProcess(
            program, arguments,
            environment: ["NORRISCTL_PAGER": "", "TERM": "xterm-256color"].merging(environment) { $1 },
            terminal: String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit { close(descriptor) }

    package var processID: pid_t { process.processID }

    /// Sends keys: `\r` is Return, `\t` Tab, `\u{4}` Ctrl-D.
    package func type(_ keys: String) {
        var rest = Array(keys.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if !read(within: 1) {
                return
            }
        }
    }

    /// Reads until a text appears after the text of earlier waits.
    ///
    /// - Parameter seconds: the longest wait, which a successful test never needs.
    /// - Returns: the output including the text; nil if the text did not appear.
    @discardableResult package func wait(for text: String, within seconds: Int = 120) -> String? {
        let pattern = Data(text.utf8)
        let end = Date(timeIntervalSinceNow: TimeInterval(seconds))
        repeat {
            if let range = Data(transcript).range(of: pattern, in: position..<transcript.count) {
                defer { position = range.upperBound }
                return String(decoding: transcript[position..<range.upperBound], as: UTF8.self)
            }
        } while read(within: end.timeIntervalSinceNow)
        return nil
    }

    /// Reads to the end of the program and returns the exit status of ``ChildProcess/wait()``.
    @discardableResult package func waitForEnd(within seconds: Int = 120) -> Int32 {
        let end = Date(timeIntervalSinceNow: TimeInterval(seconds))
        while read(within: end.timeIntervalSinceNow) {}
        return process.wait()
    }

    /// The output after the last wait.
    package var rest: String { String(decoding: transcript[position...], as: UTF8.self) }

    /// Reads available output, waiting for it if necessary.
    ///
    /// - Returns: false after the time, or if the other side has closed.
    private func read(within seconds: TimeInterval) -> Bool {
        guard seconds > 0 else { return false }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let outcome = poll(&entry, 1, Int32(min(seconds, 120) * 1000) + 1)
        if outcome < 0 && errno == EINTR { return true }
        guard outcome > 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        // EIO: no process has the terminal open (pty(7)).
        guard count > 0 else { return false }
        transcript += buffer[..<count]
        return true
    }

    private static func size(columns: Int, rows: Int) -> winsize {
        winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    }
}
