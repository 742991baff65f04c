/// Decides whether a redirect is followed: from `https` to `https` only, and at most three times.
///
/// Where the target turns out to be at a private address, ``Transfer`` stops it.
struct RedirectPolicy {
    static let maximum = 3
    static let statuses: Set<Int> = [301, 302, 303, 307, 308]

    private(set) var followed = 0

    /// Where an answer leads to; nil if it is no redirect.
    ///
    /// - Parameter mayBePrivate: false if a private host, as far as it can be seen from the name, is to be refused.
    mutating func target(
        of url: HTTPURL, status: Int, location: String?, mayBePrivate: Bool = true
    ) throws(UpstreamError) -> HTTPURL? {
        guard Self.statuses.contains(status) else { return nil }
        guard let location, let target = url.resolving(location) else {
            throw UpstreamError(
                .http(status: status),
                "\(url.place) redirects, but to no http or https URL; configure the address that is meant."
            )
        }
        guard url.isSecure && target.isSecure else {
            throw Self.refusal(of: target, from: url, status, "only redirects from https to https are followed")
        }
        guard mayBePrivate || !target.hasPrivateHost else {
            throw Self.refusalOfPrivate(target, from: url, status)
        }
        guard followed < Self.maximum else {
            throw Self.refusal(of: target, from: url, status, "no more than \(Self.maximum) redirects are followed")
        }
        followed += 1
        return target
    }

    static func refusalOfPrivate(_ target: HTTPURL, from url: HTTPURL, _ status: Int) -> UpstreamError {
        refusal(of: target, from: url, status, "a private address is not followed")
    }

    private static func refusal(
        of target: HTTPURL, from url: HTTPURL, _ status: Int, _ reason: String
    ) -> UpstreamError {
        let place = "\(target.scheme)://\(target.place)"
        return UpstreamError(
            .http(status: status), "\(url.place) redirects to \(place), and \(reason); configure that address."
        )
    }
}
