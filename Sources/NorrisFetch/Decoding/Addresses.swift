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
    let reference = withoutFeedScheme(percentEncodedOthers(trimmed(text)))
    guard !reference.isEmpty, reference.utf8.count <= 2048 else { return nil }
    if isPlainURL(reference) { return reference }
    if isAbsolute(reference) { return withASCIIHost(reference).flatMap { isPlainURL($0) ? $0 : nil } }
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

/// The URL of a source as a person writes it: as browsers read it, with or without user, and `https` without a scheme.
func sourceURL(_ text: String) -> HTTPURL? {
    guard text.utf8.count <= 8192 else { return nil }
    var url = withoutFeedScheme(percentEncodedOthers(trimmed(text)))
    if url.hasPrefix("//") { url = "https:" + url }
    // `localhost:8080` has no scheme.
    let port = url.drop { $0 != ":" }.dropFirst().prefix { $0 != "/" }
    if !isAbsolute(url) || isNumber(port) { url = "https://" + url }
    guard url.utf8.count <= 2048 else { return nil }
    return HTTPURL(url) ?? withASCIIHost(url).flatMap { HTTPURL($0) }
}

/// `feed://host` is `http://host`, and `feed:https://host` is `https://host`.
private func withoutFeedScheme(_ url: String) -> String {
    guard url.prefix(5).lowercased() == "feed:" else { return url }
    let rest = url.dropFirst(5)
    return rest.hasPrefix("//") ? "http:" + rest : String(rest)
}

/// Whether a text is an `http` or `https` URL without user.
func isPlainURL(_ text: String) -> Bool {
    guard let url = HTTPURL(text) else { return false }
    return url.userInfo == nil
}

/// Whether a reference begins with a scheme (RFC 3986, section 4.3).
private func isAbsolute(_ reference: String) -> Bool {
    let scheme = reference.utf8.prefix { isLetterOrDigit($0) || "+-.".utf8.contains($0) }
    return scheme.first.map(isLetter) == true && scheme.endIndex < reference.utf8.endIndex
        && reference.utf8[scheme.endIndex] == UInt8(ascii: ":")
}

/// Percent-encodes characters that a URL does not allow; browsers remove line breaks and tabs.
private func percentEncodedOthers(_ text: String) -> String {
    if text.utf8.allSatisfy(isAllowedInURL) { return text }
    var encoded = ""
    for byte in text.utf8 where byte != "\n" && byte != "\r" && byte != "\t" {
        if isAllowedInURL(byte) {
            encoded.unicodeScalars.append(Unicode.Scalar(byte))
        } else {
            encoded += (byte < 0x10 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
        }
    }
    return encoded
}

/// An absolute URL whose host may be percent-encoded (libcurl-url(3)).
private func withASCIIHost(_ url: String) -> String? {
    // libidn2 takes the host in the encoding of the locale.
    setlocale(LC_CTYPE, "C.UTF-8")
    guard let handle = curl_url() else { return nil }
    defer { curl_url_cleanup(handle) }
    var converted: UnsafeMutablePointer<CChar>?
    guard curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK,
        curl_url_get(handle, CURLUPART_URL, &converted, UInt32(CURLU_PUNYCODE)) == CURLUE_OK, let converted
    else { return nil }
    defer { curl_free(converted) }
    let text = String(cString: converted)
    return text.utf8.count <= 2048 ? text : nil
}
