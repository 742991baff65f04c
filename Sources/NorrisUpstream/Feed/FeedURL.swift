/// The address that a reference in a feed means, byte for byte as it stands there if it is absolute.
///
/// - Returns: nil for anything that is not `http` or `https` (`javascript:`, `data:`), and for nonsense.
func resolved(_ reference: String, at base: HTTPURL) -> String? {
    if let url = cleanURL(reference) { return url }
    // An address without a scheme is cleaned behind one that is made up, of the same base.
    let reference = reference.drop(while: \.isWhitespace)
    guard !reference.isEmpty, let url = cleanURL("\(base.scheme)://x/\(reference)") else { return nil }
    let relative = url.dropFirst("\(base.scheme)://x/".count)
    // Which place of a page is meant is all that tells the entries of some feeds apart.
    let fragment = relative.drop { $0 != "#" }
    return base.resolving(String(relative)).map { $0.description + fragment }
}

/// Whether something that may be a picture is one: by its media type, else by the end of its address.
func isImage(type: String?, url: String) -> Bool {
    if let type { return type.lowercased().hasPrefix("image/") }
    let path = url.prefix { $0 != "?" && $0 != "#" }.lowercased()
    return [".avif", ".gif", ".jpeg", ".jpg", ".png", ".webp"].contains(where: path.hasSuffix)
}
