/// Why a credential that exists cannot be used. Carries the path, never the content.
package enum CredentialError: Error, Equatable, CustomStringConvertible {
    /// Opening or reading it failed.
    case unreadable(path: String, errno: CInt)
    /// Larger than ``Secret/maximumFileSize``.
    case tooLarge(path: String)
    /// Nothing but line ends.
    case empty(path: String)
    /// Not valid UTF-8.
    case notText(path: String)

    package var description: String {
        switch self {
        case .unreadable(let path, let errno):
            "The credential \(path) cannot be read (\(errnoText(errno))): "
                + "let the user that runs norrisd read this file."
        case .tooLarge(let path):
            "The credential \(path) is larger than 64 KiB: the file must hold the key and nothing else."
        case .empty(let path):
            "The credential \(path) is empty: write the key into the file, or remove it."
        case .notText(let path):
            "The credential \(path) is not UTF-8 text: the file must hold the key and nothing else."
        }
    }
}
