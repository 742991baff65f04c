import NIOCore
import Synchronization

/// Looks at connected peers, before a request goes out: no redirect leads from the internet to a private address.
///
/// Names are looked up inside the client, and may be looked up differently the next time, so nothing but the peer's
/// address is worth a check. An upstream that is private itself, by configuration, may redirect to its neighbours.
final class PeerCheck: Sendable {
    /// A connection that was refused.
    struct PrivatePeer: Error {}

    private let basePeerIsPrivate: Mutex<Bool>
    /// What the base counts as, whatever its peer is; nil to look.
    private let assumption: Bool?

    init(assumingBaseIsPrivate assumption: Bool? = nil) {
        self.assumption = assumption
        basePeerIsPrivate = Mutex(assumption ?? false)
    }

    /// Whether the upstream's own address was private when it was last connected.
    var baseIsPrivate: Bool { basePeerIsPrivate.withLock { $0 } }

    /// For connections to the configured base: notes what it is.
    func note(_ channel: any Channel) {
        guard assumption == nil else { return }
        let isPrivate = Self.isPrivate(channel)
        basePeerIsPrivate.withLock { $0 = isPrivate }
    }

    /// For connections to where a redirect leads: fails for a private peer, unless the base is private too.
    func admit(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard Self.isPrivate(channel), !baseIsPrivate else { return channel.eventLoop.makeSucceededVoidFuture() }
        // A moment later, once the client has given it up: it expects no end of a connection that it still makes.
        channel.eventLoop.execute { channel.close(promise: nil) }
        return channel.eventLoop.makeFailedFuture(PrivatePeer())
    }

    private static func isPrivate(_ channel: any Channel) -> Bool {
        // Without an address it is no peer on the internet.
        channel.remoteAddress.flatMap(IPAddress.init)?.isPrivate ?? true
    }
}
