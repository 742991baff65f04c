import CCurl
import Glibc
import NorrisText

/// An `http` or `https` URL without user of at most 2,048 bytes; nil for anything else.
///
/// Reads an address as browsers do: other characters are percent-encoded, a bare `%` stays, and a host that is no ASCII
/// is converted to its form in the domain name system (RFC 5890). `feed:` before an address is left out.
///
/// - Parameter base: the URL to which a relative address refers; nil if only absolute ones are read.
func address(_ text: String, at base: HTTPURL? = nil) -> String? {
    guard text.utf8.count <= 8192 else { return nil }
    let reference = urlText(text)
    guard !reference.isEmpty, reference.utf8.count <= 2048 else { return nil }
    if isPlainURL(reference) { return reference }
    if hasScheme(reference) { return withASCIIHost(reference).flatMap { isPlainURL($0) ? $0 : nil } }
    guard let base else { return nil }
    // `//host/path` may have such a host too.
    if reference.hasPrefix("//") { return address("\(base.scheme):\(reference)") }
    // The entries of some feeds differ only in the fragment.
    let fragment = reference.drop { $0 != "#" }
    guard let url = base.resolving(reference), url.description.utf8.count + fragment.utf8.count <= 2048 else {
        return nil
    }
    return url.userInfo == nil ? url.description + fragment : nil
}

/// The address of a page of a feed. Without a scheme it is https, unless it is a path, whose first segment has no dot
/// or is the name of a file, as in `post.html`.
func linkAddress(_ text: String, at base: HTTPURL?) -> String? {
    let reference = urlText(text)
    if reference.hasPrefix("/") || hasScheme(reference) { return address(text, at: base) }
    let host = reference.prefix { !"/?#".contains($0) }
    let suffix = host.lowercased().split(separator: ".", omittingEmptySubsequences: false).dropFirst().last ?? ""
    let isHost =
        host.lowercased() == base?.host || host.lowercased().hasPrefix("www.")
        || suffix.utf8.count > 1 && suffix.utf8.allSatisfy(isLetter) && !fileSuffixes.contains(suffix)
            && reference[host.endIndex...].hasPrefix("/")
    return address(isHost ? "https://" + reference : text, at: base)
}

/// The ends of file names with which paths of websites begin.
private let fileSuffixes: Set<Substring> = [
    "asp", "aspx", "cfm", "cgi", "htm", "html", "jsp", "json", "php", "pl", "py", "rss", "xhtml", "xml",
]

/// The URL of a source as a person writes it.
func sourceURL(_ text: String) -> HTTPURL? {
    guard let url = sourceAddress(text) else { return nil }
    return HTTPURL(url) ?? withASCIIHost(url).flatMap { HTTPURL($0) }
}

/// The URL to which libcurl follows a redirect, with the user of `url` if `location` is relative.
func redirectTarget(_ location: String, from url: HTTPURL) -> HTTPURL? {
    guard !location.isEmpty, let target = withASCIIHost(location, at: url.description) else { return nil }
    return HTTPURL(urlText(target))
}

/// Whether a text is an `http` or `https` URL without user.
func isPlainURL(_ text: String) -> Bool {
    guard let url = HTTPURL(text) else { return false }
    return url.userInfo == nil
}

/// An absolute URL whose host may be percent-encoded, or with a base a reference as in a redirect (libcurl-url(3)).
private func withASCIIHost(_ url: String, at base: String? = nil) -> String? {
    // libidn2 takes the host in the encoding of the locale.
    setlocale(LC_CTYPE, "C.UTF-8")
    guard let handle = curl_url() else { return nil }
    defer { curl_url_cleanup(handle) }
    var converted: UnsafeMutablePointer<CChar>?
    // As libcurl itself for redirects, with the options of ``Download``.
    let flags = base == nil ? 0 : UInt32(CURLU_URLENCODE | CURLU_ALLOW_SPACE | CURLU_PATH_AS_IS)
    if let base, curl_url_set(handle, CURLUPART_URL, base, 0) != CURLUE_OK { return nil }
    guard curl_url_set(handle, CURLUPART_URL, url, flags) == CURLUE_OK,
        curl_url_get(handle, CURLUPART_URL, &converted, UInt32(CURLU_PUNYCODE)) == CURLUE_OK, let converted
    else { return nil }
    defer { curl_free(converted) }
    let text = String(cString: converted)
    return text.utf8.count <= 2048 ? text : nil
}
