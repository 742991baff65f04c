import Foundation

/// A line with places that may hold any text: `…` any at all, `‹name›` one without quotation mark, which is kept.
struct ReplyPattern {
    private enum Token {
        case text([UInt8])
        case name(String)
    }

    /// What stands between the `…`.
    private let runs: [[Token]]

    init(_ pattern: String) {
        runs = pattern.components(separatedBy: "…").map(ReplyPattern.tokens)
    }

    /// The texts of the named places, if the whole line matches, byte for byte.
    func match(_ line: String) -> [String: String]? {
        let bytes = Array(line.utf8)
        var names: [String: String] = [:]
        var position = 0
        for (index, run) in runs.enumerated() {
            let isLast = index == runs.count - 1
            // The first run stands at the very start, the last at the very end, the others as early as they can.
            let starts = index == 0 ? position...position : position...bytes.count
            let found = starts.lazy.compactMap { ReplyPattern.end(of: run, in: bytes, at: $0) }
                .first { !isLast || $0.end == bytes.count }
            guard let found else { return nil }
            position = found.end
            names.merge(found.names) { $1 }
        }
        return names
    }

    private static func end(
        of run: [Token], in bytes: [UInt8], at start: Int
    ) -> (end: Int, names: [String: String])? {
        var position = start
        var names: [String: String] = [:]
        for token in run {
            switch token {
            case .text(let text):
                guard bytes[position...].starts(with: text) else { return nil }
                position += text.count
            case .name(let name):
                let end = bytes[position...].firstIndex(of: UInt8(ascii: "\"")) ?? bytes.count
                names[name] = String(decoding: bytes[position..<end], as: UTF8.self)
                position = end
            }
        }
        return (position, names)
    }

    private static func tokens(_ run: String) -> [Token] {
        run.components(separatedBy: "‹").enumerated().flatMap { index, part -> [Token] in
            guard index > 0, let end = part.firstIndex(of: "›") else { return [.text(Array(part.utf8))] }
            return [.name(String(part[..<end])), .text(Array(part[part.index(after: end)...].utf8))]
        }
    }
}
