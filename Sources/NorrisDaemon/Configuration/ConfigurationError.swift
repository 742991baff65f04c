/// One thing that is wrong with, or worth a warning about, a configuration file.
package struct ConfigurationFault: Sendable, Equatable, CustomStringConvertible {
    /// The path as it was given.
    package var file: String
    /// Counted from 1; nil where the fault is the file itself.
    package var line: Int?
    /// The dotted path of the key, such as `posts.sources.planet.url`; nil where the fault is not about one.
    package var key: String?
    /// One sentence that says what is wrong and what to write instead.
    package var message: String

    package init(file: String, line: Int? = nil, key: String? = nil, message: String) {
        self.file = file
        self.line = line
        self.key = key
        self.message = message
    }

    /// `FILE:LINE: key: message`, without the parts that are unknown.
    package var description: String {
        var text = file
        if let line { text += ":\(line)" }
        if let key { text += ": \(key)" }
        return text + ": " + message
    }
}

/// Why a configuration was refused: every fault that could be found in one go.
package struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Never empty, in the order of the file.
    package var faults: [ConfigurationFault]

    package init(faults: [ConfigurationFault]) {
        self.faults = faults
    }

    /// One fault a line.
    package var description: String {
        faults.map(\.description).joined(separator: "\n")
    }
}
