extension HTTPURL {
    /// The URL that a reference found at this one means (RFC 3986, section 5.2); nil if it is none of `http(s)`.
    package func resolving(_ reference: String) -> HTTPURL? {
        let reference = reference.prefix { $0 != "#" }
        if reference.isEmpty { return self }
        if reference.utf8.starts(with: "//".utf8) { return HTTPURL("\(scheme):\(reference)")?.normalized }
        // A scheme ends at a colon that stands before any slash or question mark.
        if let end = reference.firstIndex(where: { ":/?".contains($0) }), reference[end] == ":" {
            return HTTPURL(String(reference))?.normalized
        }
        let base = "\(scheme)://\(authority)"
        if reference.first == "/" { return HTTPURL("\(base)\(reference)")?.normalized }
        if reference.first == "?" { return HTTPURL("\(base)\(path)\(reference)") }
        let folder = path.prefix(upTo: path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)
        return HTTPURL("\(base)\(folder)\(reference)")?.normalized
    }

    /// Without the segments `.` and `..` (RFC 3986, section 5.2.4).
    private var normalized: HTTPURL {
        var segments: [Substring] = []
        let all = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in all.enumerated() {
            let isLast = index == all.count - 1
            switch segment {
            case ".":
                if isLast { segments.append("") }
            case "..":
                _ = segments.popLast()
                if isLast { segments.append("") }
            default:
                segments.append(segment)
            }
        }
        let path = "/" + segments.joined(separator: "/")
        return HTTPURL(isSecure: isSecure, host: host, port: port, path: path, query: query)
    }
}
