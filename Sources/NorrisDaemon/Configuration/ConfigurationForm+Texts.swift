import NorrisUpstream

/// What texts of the file are relative to.
struct ConfigurationPlace: Sendable {
    /// The configuration file's folder, absolute.
    var folder: String
    /// For `~/`; nil if nobody knows it.
    var home: String?
}

extension ConfigurationScalar {
    /// The text, if YAML takes it for a string and it can be shown: not blank, no control characters.
    func string() throws(ConfigurationRefusal) -> String {
        switch plainKind {
        case .number, .boolean: throw .mismatch(hint: "put it in quotes")
        case .null: throw .mismatch()
        case .text, nil: break
        }
        if text.allSatisfy(\.isWhitespace) {
            throw .sentence("must not be empty; write something or remove it")
        }
        if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            throw .sentence("must not hold control characters; remove them")
        }
        return text
    }
}

extension ConfigurationForm where Value == String {
    /// Any text that is not blank and has no control characters.
    static func text(_ expectation: String) -> Self {
        Self(scalar: expectation, write: YAMLText.scalar) { scalar, _ throws(ConfigurationRefusal) in
            try scalar.string()
        }
    }

    /// What an HTTP header can carry everywhere: printable ASCII (RFC 9110, section 5.5).
    static var headerValue: Self {
        let expectation = "a text of 1 to 256 printable ASCII characters"
        return Self(scalar: expectation, write: YAMLText.scalar) { scalar, _ throws(ConfigurationRefusal) in
            let text = try scalar.string()
            guard text.utf8.count <= 256, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw .mismatch()
            }
            return text
        }
    }

    /// A query for a search at an upstream that takes only so many UTF-16 units.
    static func query(_ lengths: ClosedRange<Int>) -> Self {
        let expectation = "a query of \(lengths.lowerBound) to \(lengths.upperBound) characters"
        return Self(scalar: expectation, write: YAMLText.scalar) { scalar, _ throws(ConfigurationRefusal) in
            let text = try scalar.string()
            guard lengths.contains(text.utf16.count) else {
                throw .mismatch(hint: "this has \(text.utf16.count)")
            }
            return text
        }
    }

    /// The path of a file or folder, made absolute.
    static var path: Self {
        let expectation = "a path that is absolute, begins with ~/ or is relative to the configuration file's folder"
        return Self(scalar: expectation, write: YAMLText.scalar) { scalar, place throws(ConfigurationRefusal) in
            let text = try scalar.string()
            if text.hasPrefix("/") { return text }
            guard text.hasPrefix("~") else {
                return Paths.join(place.folder, text.hasPrefix("./") ? String(text.dropFirst(2)) : text)
            }
            guard text == "~" || text.hasPrefix("~/") else {
                throw .mismatch(hint: "write that user's home directory in full")
            }
            guard let home = place.home else {
                throw .sentence("begins with ~ but the home directory is unknown; write an absolute path or set $HOME")
            }
            return Paths.join(home, String(text.dropFirst(2)))
        }
    }

    /// An `http` or `https` URL to which paths are added; trailing slashes are taken off.
    static var baseURL: Self {
        url { address throws(ConfigurationRefusal) in
            if address.query != nil { throw .sentence("must not hold a query; remove ? and what follows") }
            while address.path.hasSuffix("/") { address.path.removeLast() }
        }
    }

    /// A base URL that a key is sent to; plain `http` over the internet is allowed, but not without a warning.
    static var baseURLForKey: Self {
        var form = baseURL
        let read = form.read
        form.read = { spot, reader in
            let value = read(spot, &reader)
            if let url = value.flatMap({ HTTPURL($0) }), !url.isSecure, !url.hasPrivateHost {
                reader.warn(spot, "sends the API key unencrypted; write https:// if the host supports it")
            }
            return value
        }
        return form
    }

    /// The `http` or `https` URL of a document; feeds often have a query.
    static var documentURL: Self {
        url { _ in }
    }

    private static func url(
        _ check: @escaping @Sendable (inout WebAddress) throws(ConfigurationRefusal) -> Void
    ) -> Self {
        Self(scalar: "an http or https URL", write: YAMLText.scalar) { scalar, _ throws(ConfigurationRefusal) in
            var address = try WebAddress(try scalar.string())
            if address.userInfo != nil {
                throw .sentence("must not hold a user name or password; remove what stands before @")
            }
            if address.fragment != nil {
                throw .sentence("must not hold a fragment; remove # and what follows")
            }
            try check(&address)
            return address.text
        }
    }
}

extension ConfigurationForm where Value == HTTPProxy {
    /// Written with `***` for the password.
    static var proxy: Self {
        let expectation = "a URL such as http://proxy.example:3128"
        return Self(scalar: expectation, write: { YAMLText.scalar($0.maskedURL) }) {
            scalar, _ throws(ConfigurationRefusal) in
            try HTTPProxy(try scalar.string())
        }
    }
}
