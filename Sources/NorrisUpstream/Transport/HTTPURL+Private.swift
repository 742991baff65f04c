extension HTTPURL {
    /// Whether the host, as it is written, is no host of the public internet.
    ///
    /// That is all there is to look at behind a proxy, which looks names up itself. A host whose last label is a
    /// number, but which is no address in its usual form (`127.1`, `0x7f000001`), counts as private: some resolvers
    /// take it for an address (https://url.spec.whatwg.org, "ends in a number"), and no public name looks like that.
    var hasPrivateHost: Bool {
        if host.first == "[" {
            return IPAddress(String(host.dropFirst().dropLast()))?.isPrivate ?? true
        }
        let name = host.last == "." ? host.dropLast() : host[...]
        if let address = IPAddress(String(name)) { return address.isPrivate }
        guard let label = name.split(separator: ".").last else { return true }
        if label == "localhost" { return true }
        return label.utf8.first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? true
    }
}
