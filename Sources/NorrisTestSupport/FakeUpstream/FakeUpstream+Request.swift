extension FakeUpstream {
    /// A request as it arrived.
    package struct Request: Sendable {
        package let method: String
        /// As it stood in the request line.
        package let target: String
        package let headers: [(name: String, value: String)]

        /// - Parameter head: the lines up to the empty one.
        init(head: String) {
            let lines = head.split(separator: "\r\n")
            let words = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false)
            method = words.first.map(String.init) ?? ""
            target = words.count > 1 ? String(words[1]) : ""
            headers = lines.dropFirst().map { line in
                let colon = line.firstIndex(of: ":") ?? line.endIndex
                let value = line[colon...].dropFirst().drop { $0 == " " }
                return (name: String(line[..<colon]), value: String(value))
            }
        }

        /// The value of the first field of a name, in whatever case.
        package func header(_ name: String) -> String? {
            headers.first { $0.name.lowercased() == name.lowercased() }?.value
        }

        /// Without scheme, host and query.
        package var path: String {
            var rest = target[...]
            if rest.hasPrefix("http://") {
                rest = rest.dropFirst(7).drop { $0 != "/" }
            }
            return String(rest.prefix { $0 != "?" })
        }

        /// The value of the parameter `query`, decoded.
        package var query: String? { parameter("query") }

        /// The value of the first parameter of a name, decoded.
        package func parameter(_ name: String) -> String? {
            let parameters = target.drop { $0 != "?" }.dropFirst().split(separator: "&")
            guard let parameter = parameters.first(where: { $0.hasPrefix("\(name)=") }) else { return nil }
            var bytes: [UInt8] = []
            var rest = Array(parameter.utf8.dropFirst(name.utf8.count + 1))[...]
            while let byte = rest.popFirst() {
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                if byte == UInt8(ascii: "%"), let value = UInt8(digits, radix: 16) {
                    bytes.append(value)
                    rest = rest.dropFirst(2)
                } else {
                    bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                }
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}
