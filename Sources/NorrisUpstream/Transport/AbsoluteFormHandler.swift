import NIOCore
import NIOHTTP1

/// Names the whole URL in the request line, as a proxy wants it for plain `http` (RFC 9112, section 3.2.2).
final class AbsoluteFormHandler: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data), let host = head.headers.first(name: "Host") else {
            return context.write(data, promise: promise)
        }
        head.uri = "http://\(host)\(head.uri)"
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    /// Puts the handler where it sees heads that are not encoded yet; to be called on the channel's event loop.
    static func add(to channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(
            AbsoluteFormHandler(), position: .after(pipeline.handler(type: HTTPRequestEncoder.self))
        )
    }
}
