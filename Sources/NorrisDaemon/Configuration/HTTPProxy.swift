/// The value of `http.proxy`: `http://[USER[:PASSWORD]@]HOST[:PORT]`.
package struct HTTPProxy: Sendable, Equatable {
    /// A name or an address, IPv6 without brackets.
    package let host: String
    /// 80 where the URL has none.
    package let port: Int
    /// Percent-decoded.
    package let user: String?
    /// Percent-decoded. Never printed.
    package let password: String?
    /// The URL with `***` for the password.
    package let maskedURL: String

    /// No message names any part of the text, because it may hold the password.
    init(_ text: String) throws(ConfigurationRefusal) {
        let address = try WebAddress(text)
        guard address.scheme == "http" else {
            throw .sentence("must begin with http://; what is https stays encrypted through the proxy")
        }
        guard address.path.isEmpty || address.path == "/", address.query == nil, address.fragment == nil else {
            throw .sentence("must end after the host and port; remove the path, query or fragment")
        }
        host = address.host.hasPrefix("[") ? String(address.host.dropFirst().dropLast()) : address.host
        port = address.port ?? 80
        var maskedUser = ""
        if let userInfo = address.userInfo {
            let parts = userInfo.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            user = WebAddress.percentDecoded(parts[0])
            password = parts.count > 1 ? WebAddress.percentDecoded(parts[1]) : nil
            guard let user, !user.isEmpty, parts.count == 1 || password != nil else {
                throw .sentence("has a user name or password that is empty or not UTF-8; write USER:PASSWORD@HOST")
            }
            maskedUser = parts.count > 1 ? "\(parts[0]):***@" : "\(parts[0])@"
        } else {
            user = nil
            password = nil
        }
        maskedURL = "http://\(maskedUser)\(address.host):\(port)"
    }
}
