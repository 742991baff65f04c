/// A value that is JSON but not of the shape that was asked for.
package struct JSONDecodingError: Error, Equatable, CustomStringConvertible {
    /// Keys and indices from the outermost value to the faulty one, joined by dots; empty for the outermost itself.
    package var path: String

    /// What is wrong, as the end of a sentence that begins with the path: "must be a string".
    package var message: String

    package init(path: String = "", message: String) {
        self.path = path
        self.message = message
    }

    /// The same error seen from one level further out.
    package func below(_ step: String) -> JSONDecodingError {
        JSONDecodingError(path: path.isEmpty ? step : "\(step).\(path)", message: message)
    }

    /// One sentence, such as `items.0.text must be a string.`
    package var description: String {
        "\(path.isEmpty ? "The value" : path) \(message)."
    }
}
