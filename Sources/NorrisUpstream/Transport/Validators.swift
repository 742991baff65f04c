/// What an upstream named a version of its content by (RFC 9110, section 8.8), byte for byte as it came.
package struct Validators: Sendable, Equatable {
    package var etag: String?
    package var lastModified: String?

    package init(etag: String? = nil, lastModified: String? = nil) {
        self.etag = etag
        self.lastModified = lastModified
    }

    /// Those of an answer; one that could not be sent back as it came is left out.
    init(_ headers: HTTPHeaderFields) {
        etag = headers["etag"].flatMap(Self.usable)
        lastModified = headers["last-modified"].flatMap(Self.usable)
    }

    /// The fields that make a request conditional.
    var headers: [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        if let etag = etag.flatMap(Self.usable) { headers.append((name: "If-None-Match", value: etag)) }
        if let lastModified = lastModified.flatMap(Self.usable) {
            headers.append((name: "If-Modified-Since", value: lastModified))
        }
        return headers
    }

    /// Nil for what is empty, holds a control character, is longer than 1 KiB, or was no UTF-8 and so is not what came.
    private static func usable(_ value: String) -> String? {
        let isClean = value.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0 != "\u{FFFD}" }
        return isClean && (1...1024).contains(value.utf8.count) ? value : nil
    }
}
